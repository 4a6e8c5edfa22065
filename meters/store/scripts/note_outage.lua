-- Writes a ledger entry about an outage of a link, with the time and the reason. The service calls
-- this script when the link operates again (duty D17).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 the actor
--       4 the outage's id   5 the outage as text, for the ledger
-- Output, in order of precedence
--   { 'terms' }          the link's terms are not those of ARGV 2
--   { 'known' }          the ledger already has this outage; an earlier answer was lost
--   { 'done', entry }

local BY, ID, OUTAGE = ARGV[3], ARGV[4], ARGV[5]

--include books
--include terms

if meters['outage'] == ID then return { 'known' } end

touch_floor()
local entry = note_entry('inoperable', BY, '', '', 0, {}, OUTAGE, '')
write_books()
redis.call('HSET', METERS, 'outage', ID)
return { 'done', exact(entry) }
