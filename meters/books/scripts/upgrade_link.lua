-- Brings the books of a link from one version of their layout to the next, with an entry in the
-- ledger that says so. What else a step must change is read by `upgrades.py`, and written here if
-- the link has the same last entry still.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8…  the keys of tables, as the indices in ARGV 7 name them
-- ARGV  1 the time, RFC 3339   2 the version that they must have   3 the version that they get
--       4 who does it   5 the upgrade as text, for the ledger
--       6 the number of the last entry that ARGV 7 was read at
--       7 from version 2 to 3: msgpack, { table key index, the claims that hold it, a line each } …
-- Output, in order of precedence
--   { 'another', version }   they have another version; nothing was done
--   { 'moved' }              there are entries since; nothing was done
--   { 'done', entry }

--include books

local version = meters['schema'] or '1'
if version ~= ARGV[2] then return { 'another', version } end
if exact(last_entry) ~= ARGV[6] then return { 'moved' } end

touch_desk()
local entry = note_entry('upgrade', ARGV[4], '', '', 0, {}, ARGV[5], '')
write_books()
for _, held in ipairs(cmsgpack.unpack(ARGV[7])) do
  local key, claims = KEYS[held[1]], held[2]
  redis.call('HSET', key, 'held', claims)
end
redis.call('HSET', METERS, 'schema', ARGV[3])
return { 'done', exact(entry) }
