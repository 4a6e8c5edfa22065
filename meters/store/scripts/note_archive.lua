-- Writes a ledger entry about an archived gaming day, with the digests of the day's file and of the
-- checkpoint (the link's state at the day's close; duty D17). Archived days follow one another
-- without a gap.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
-- ARGV  1 the time, RFC 3339   2 the actor
--       3 the last entry that is already archived   4 the last entry of the day
--       5 the day as text, for the ledger
-- Output, in order of precedence
--   { 'other', entry }   another process archived more: the last archived entry
--   { 'short', entry }   the ledger ends before ARGV 4: its last entry
--   { 'done', entry }

local BY, ARCHIVED_BEFORE, LAST, DAY = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--include books
--include present

local archived = meters['archived'] or '0'
if archived ~= ARCHIVED_BEFORE then return { 'other', archived } end
if last_entry < tonumber(LAST) then return { 'short', exact(last_entry) } end

local entry = note_entry('archive', BY, '', '', 0, {}, DAY, '')
write_books()
redis.call('HSET', METERS, 'archived', LAST, 'archived_at', AT)
return { 'done', exact(entry) }
