-- Closes a link, or opens a closed link, with a ledger entry. A closed link accepts no new wagers.
-- Rounds with accepted wagers can still be finished, and wins can still be decided (duties D12,
-- D13).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 act: close or open
--       4 the actor   5 the reason for closing   6 the act as text, for the ledger
-- Output, in order of precedence
--   { 'terms' }                 the link's terms are not those of ARGV 2
--   { 'wrong_state', person }   the link is closed, or open, already; the person who closed it
--   { 'done', entry }

local ACT, BY, REASON, RECORD = ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--include books
--include terms

if (meters['closed'] ~= nil) == (ACT == 'close') then
  return { 'wrong_state', meters['closed_by'] or '' }
end

for field in pairs(meters) do
  -- Each display must get the new state, so the version of each meter rises.
  if string.sub(field, 1, 6) == 'terms:' then touch_meter(string.sub(field, 7)) end
end
touch_floor()
local entry = note_entry(ACT, BY, '', '', 0, {}, RECORD, '')
write_books()
if ACT == 'close' then
  redis.call('HSET', METERS, 'closed', REASON, 'closed_by', BY, 'closed_at', AT)
else
  redis.call('HDEL', METERS, 'closed', 'closed_by', 'closed_at')
end
return { 'done', exact(entry) }
