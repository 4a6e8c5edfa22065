-- Approves the part of a floor file that affects a link's money, with a ledger entry (duties D10,
-- D12).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 approved
-- ARGV  1 the time, RFC 3339   2 the digest that is approved   3 the actor
--       4 the text that is approved   5 the approval as text, for the ledger
--       6 the digest of the last approved text, empty if there is none
--       7 `first` if the service approves the link's first text without a person; else empty
-- Output, in order of precedence
--   { 'stale' }          another text was approved after ARGV 6 was read
--   { 'lost' }           ARGV 7 is `first`, but Redis has lost an earlier approval
--   { 'done', entry }

local APPROVED = KEYS[8]
local DIGEST, BY, TEXT, DECISION, REPLACED = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ADOPTED = ARGV[7]

--include books
--include present

if (redis.call('HGET', APPROVED, 'digest') or '') ~= REPLACED then return { 'stale' } end
if ADOPTED == 'first' and redis.call('HEXISTS', TALLIES, 'approvals') == 1 then return { 'lost' } end

-- Each approval has a number, so nobody can present an earlier approval as the last one.
local number = tonumber(redis.call('HGET', TALLIES, 'approvals') or '0') + 1
touch_desk()
tally('approvals', 1)
local entry = note_entry('approve', BY, '', '', number, {}, DECISION, '')
write_books()
redis.call('HSET', APPROVED, 'digest', DIGEST, 'text', TEXT, 'by', BY, 'at', AT,
  'entry', exact(entry))
return { 'done', exact(entry) }
