-- Stores a proposal, with a ledger entry. Another person must confirm the change (duties D4, D12).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 proposals  9 the proposal
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 proposal id
--       4 kind: parameter or adjustment   5 the actor   6 the proposal as text
-- Output, in order of precedence
--   { 'terms' }          the link's terms are not those of ARGV 2
--   { 'not_closed' }     a parameter changes only while the link is closed
--   { 'rounds_open', number }   there are open rounds, with wagers under the present parameters
--   { 'done', entry }

local PROPOSALS, PROPOSAL = KEYS[8], KEYS[9]
local ID, KIND, BY, RECORD = ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--include books
--include terms

if KIND == 'parameter' then
  if not meters['closed'] then return { 'not_closed' } end
  if count_of(meters, 'rounds') > 0 then return { 'rounds_open', meters['rounds'] } end
end

touch_floor()
local entry = note_entry('propose', BY, '', '', 0, {}, RECORD, '')
write_books()
redis.call('HSET', PROPOSAL, 'record', RECORD, 'kind', KIND, 'by', BY, 'at', AT, 'state', 'open')
redis.call('ZADD', PROPOSALS, exact(entry), ID)
return { 'done', exact(entry) }
