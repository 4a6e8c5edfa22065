-- Keeps what one person proposes and another must confirm, with its ledger entry (duties D4, D12).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 proposals  9 the proposal
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 proposal id
--       4 kind: parameter or adjustment   5 who   6 the proposal as text
-- Output, in order of precedence
--   { 'terms' }          the link's terms are not those of ARGV 2
--   { 'not_closed' }     a parameter changes only while the link is closed
--   { 'rounds_open', number }   rounds are in hand that were wagered under today's parameters
--   { 'done', entry }

local PROPOSALS, PROPOSAL = KEYS[8], KEYS[9]

--include books
--include present

if (meters['terms'] or '') ~= ARGV[2] then return { 'terms' } end
if ARGV[4] == 'parameter' then
  if not meters['closed'] then return { 'not_closed' } end
  if count_of(meters, 'rounds') > 0 then return { 'rounds_open', meters['rounds'] } end
end

touch_desk()
local entry = note_entry('propose', ARGV[5], '', '', 0, {}, ARGV[6], '')
write_books()
redis.call('HSET', PROPOSAL, 'record', ARGV[6], 'kind', ARGV[4], 'by', ARGV[5], 'at', AT, 'state', 'open')
redis.call('ZADD', PROPOSALS, exact(entry), ARGV[3])
return { 'done', exact(entry) }
