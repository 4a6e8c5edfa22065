-- Upgrades the data of a link from one schema version to the next, with a ledger entry.
-- `upgrades.py` reads the data that an upgrade needs. This script writes it only if the ledger has
-- no newer entry.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8…  the keys of tables; ARGV 7 refers to them by index
-- ARGV  1 the time, RFC 3339   2 the schema version that the data has   3 its new schema version
--       4 the actor   5 the upgrade as text, for the ledger
--       6 the number of the last entry at the time when ARGV 7 was read
--       7 from version 2 to 3: msgpack, { table key index, the claims that hold the table } …
--         with one claim on each line
-- Output, in order of precedence
--   { 'another', version }   the data has another version; nothing was done
--   { 'moved' }              the ledger has newer entries; nothing was done
--   { 'done', entry }

local VERSION, NEW_VERSION, BY, UPGRADE, LAST_ENTRY = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local HELD_TABLES = ARGV[7]

--include books
--include positions

local version = meters['schema'] or '1'
if version ~= VERSION then return { 'another', version } end
if exact(last_entry) ~= LAST_ENTRY then return { 'moved' } end

touch_desk()
local entry = note_entry('upgrade', BY, '', '', 0, {}, UPGRADE, '')
write_books()
for _, held in ipairs(cmsgpack.unpack(HELD_TABLES)) do
  local key = KEYS[held[HELD_TABLE_TABLE_KEY]]
  redis.call('HSET', key, 'held', held[HELD_TABLE_WINS])
end
redis.call('HSET', METERS, 'schema', NEW_VERSION)
return { 'done', exact(entry) }
