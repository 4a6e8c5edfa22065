-- Approves the part of a floor file that affects a link's money, or notes the first of two
-- approvals, with a ledger entry (duties D4, D10, D12).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 approved
-- ARGV  1 the time, RFC 3339   2 the digest that is approved   3 the actor
--       4 the text that is approved   5 the approval as text, for the ledger
--       6 the digest of the last approved text, empty if there is none
--       7 `empty` if one person approves, because no floor file was ever approved: the link must be
--         empty; `alone` if one person suffices for another reason; `first` or `second` of two
--         people
--       8 the ledger entry of the first approval that waits, empty if there is none
--       9 the person who approved first   10 the first approval as text
--       11 as JSON: who set the actor's PIN, and who must not be the other person of the act
--       12 the digest of the link's terms for which one person suffices; empty for no check
--       13 the ledger entry and the time of the approval whose place the new one takes, with a blank
--         between them; empty for no check
-- Output, in order of precedence
--   { 'stale' }          another text was approved after ARGV 6 was read
--   { 'stale' }          another first approval was noted after ARGV 8 was read
--   { 'stale' }          the first approval of ARGV 10 is not in the ledger entry of ARGV 8
--   { 'stale' }          ARGV 7 is `alone`, and the link's terms are not those of ARGV 12
--   { 'stale' }          ARGV 7 is `alone`, and the last approval is not the one of ARGV 13
--   { 'stale' }          ARGV 7 is `empty`, but the link has ledger entries
--   { 'same_person', first, setter }   the actor approved first, or the two can be the same person
--                        because of PINs that `setter` set
--   { 'done', entry }    the ledger entry of the first of two approvals
--   { 'done', entry }    the ledger entry of the approval

local APPROVED = KEYS[8]
local DIGEST, BY, TEXT, DECISION, REPLACED = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local MODE, FIRST, FIRST_BY, FIRST_RECORD, SETTERS = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local TERMS, CONTINUED = ARGV[12], ARGV[13]

--include books
--include present
--include two_people

local function has_event(noted, event)
  local _, fields = unpack(noted)
  for i = 1, #fields, 2 do
    if fields[i] == 'event1' then return fields[i + 1] == event end
  end
  return true -- a restore has written it in another form, together with other entries
end

if (redis.call('HGET', APPROVED, 'digest') or '') ~= REPLACED then return { 'stale' } end
if (redis.call('HGET', APPROVED, 'first') or '') ~= FIRST then return { 'stale' } end
if MODE == 'alone' and TERMS ~= '' and meters['terms'] ~= TERMS then return { 'stale' } end
if MODE == 'alone' and CONTINUED ~= '' then
  -- After a loss of the last writes, another approval can have this entry number.
  local entry, at = redis.call('HGET', APPROVED, 'entry'), redis.call('HGET', APPROVED, 'at')
  if (entry or '') .. ' ' .. (at or '') ~= CONTINUED then return { 'stale' } end
end
if MODE == 'empty' and last_entry > 0 then return { 'stale' } end
if MODE == 'second' then
  -- After a loss of the last writes, another approval can have this entry number.
  local noted = redis.call('XRANGE', LEDGER, FIRST, FIRST)[1]
  if noted and not has_event(noted, FIRST_RECORD) then return { 'stale' } end
  local who, setter = one_person(FIRST_BY, FIRST_RECORD, BY, SETTERS)
  if who then return { 'same_person', who, setter } end
end

touch_floor()
if MODE == 'first' then
  local entry = note_entry('approve_first', BY, '', '', 0, {}, DECISION, '')
  write_books()
  redis.call('HSET', APPROVED, 'first', exact(entry))
  return { 'done', exact(entry) }
end
-- Each approval has a number, so that nobody can present an earlier approval as the last one.
local number = tonumber(redis.call('HGET', TALLIES, 'approvals') or '0') + 1
tally('approvals', 1)
local entry = note_entry('approve', BY, '', '', number, {}, DECISION, '')
write_books()
redis.call('HSET', APPROVED, 'digest', DIGEST, 'text', TEXT, 'by', BY, 'at', AT,
  'entry', exact(entry))
redis.call('HDEL', APPROVED, 'first')
return { 'done', exact(entry) }
