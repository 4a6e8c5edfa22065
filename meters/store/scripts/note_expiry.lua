-- Writes a ledger entry that the archive files of some gaming days will be deleted, because their
-- retention time is over (duty D17).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the checkpoint
-- ARGV  1 the time, RFC 3339   2 the actor   3 the last entry that is deleted
--       4 the deleted days as text, for the ledger
-- Output, in order of precedence
--   { 'live', entry }    Redis can still have the entries after this one: keep the days
--   { 'done', entry }

local CHECKPOINT = KEYS[8]
local BY, LAST, EXPIRY = ARGV[2], ARGV[3], ARGV[4]

--include books
--include present

local trimmed = redis.call('HGET', CHECKPOINT, 'entries') or '0'
if tonumber(trimmed) < tonumber(LAST) then return { 'live', trimmed } end

local entry = note_entry('expire', BY, '', '', 0, {}, EXPIRY, '')
write_books()
return { 'done', exact(entry) }
