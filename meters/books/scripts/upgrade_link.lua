-- Brings the books of a link from one version of their layout to the next, with an entry in the
-- ledger that says so. What else a step must change goes here, before anything is written.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
-- ARGV  1 the time, RFC 3339   2 the version that they must have   3 the version that they get
--       4 who does it   5 the upgrade as text, for the ledger
-- Output, in order of precedence
--   { 'another', version }   they have another version; nothing was done
--   { 'done', entry }

--include books

local version = meters['schema'] or '1'
if version ~= ARGV[2] then return { 'another', version } end

touch_desk()
local entry = note_entry('upgrade', ARGV[4], '', '', 0, {}, ARGV[5], '')
write_books()
redis.call('HSET', METERS, 'schema', ARGV[3])
return { 'done', exact(entry) }
