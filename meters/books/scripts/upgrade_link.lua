-- Upgrades the data of a link from one schema version to the next, with a ledger entry.
-- `upgrades.py` reads the data that an upgrade needs. This script writes it only if the ledger has
-- no newer entry.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 tables  9 rounds  10 replies  11 repeated claims
--       12…  the earlier keys of tables; ARGV 7 refers to them by index
-- ARGV  1 the time, RFC 3339   2 the schema version that the data has   3 its new schema version
--       4 the actor   5 the upgrade as text, for the ledger
--       6 the number of the last entry at the time when ARGV 7 was read
--       7 msgpack, an `EarlierTable` of `script_steps.py` for each table: from version 2 to 3 the
--         tables that claims hold, from version 3 to 4 all tables
--       8 replies kept per table
-- Output, in order of precedence
--   { 'another', version }   the data has another version; nothing was done
--   { 'moved' }              the ledger has newer entries; nothing was done
--   { 'damaged', table }     the data of the table cannot be read; nothing was done
--   { 'done', entry }

local TABLES, ROUNDS, REPLIES, REPEATED_CLAIMS = KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local VERSION, NEW_VERSION, BY, UPGRADE, LAST_ENTRY = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local EARLIER_TABLES, REPLIES_KEPT = ARGV[7], tonumber(ARGV[8])

--include books
--include positions

local version = meters['schema'] or '1'
if version ~= VERSION then return { 'another', version } end
if exact(last_entry) ~= LAST_ENTRY then return { 'moved' } end

local earlier_tables, writes = cmsgpack.unpack(EARLIER_TABLES), {}

-- Moves a table from its own hash into the hashes of all tables. An earlier service can still refuse
-- an event of the table without a ledger entry, so the hash is read here, in the atomic step.
-- Returns false if the data cannot be read.
local function pack_table(id, key)
  local held = read_hash(key)
  local last, basis = tonumber(held['last'] or '0'), tonumber(held['basis'] or '0')
  local round = held['round'] or ''
  if not next(held) then return true end
  if not last or not basis then return false end
  local read, draw, contributed = true, '', {}
  if round ~= '' then
    draw = held['draw']
    read, contributed = pcall(cmsgpack.unpack, held['contributed'])
    if not read or not draw or not held['wagers'] then return false end
    writes[#writes + 1] = { 'HSET', ROUNDS, id, held['wagers'] }
  end
  writes[#writes + 1] = { 'HSET', TABLES, id, cmsgpack.pack({
    [TABLE_LAST] = last, [TABLE_OVER] = held['over'] or '', [TABLE_HELD] = held['held'] or '',
    [TABLE_ROUND] = round, [TABLE_BASIS] = basis, [TABLE_DRAW] = draw, [TABLE_CONTRIBUTED] = contributed,
  }) }
  if held['claims'] and held['claims'] ~= '' then
    writes[#writes + 1] = { 'HSET', REPEATED_CLAIMS, id, held['claims'] }
  end
  local replies = { 'HSET', REPLIES }
  for field, text in pairs(held) do
    local seq = tonumber(string.match(field, '^reply:(%d+)$'))
    if seq and seq > last - REPLIES_KEPT and seq <= last then
      replies[#replies + 1] = id .. ':' .. seq % REPLIES_KEPT
      replies[#replies + 1] = exact(seq) .. ' ' .. text
    end
  end
  if #replies > 2 then writes[#writes + 1] = replies end
  writes[#writes + 1] = { 'DEL', key }
  return true
end

for _, earlier in ipairs(earlier_tables) do
  local id, key = earlier[EARLIER_TABLE], KEYS[earlier[EARLIER_TABLE_KEY]]
  if VERSION == '2' then
    writes[#writes + 1] = { 'HSET', key, 'held', earlier[EARLIER_WINS] }
  elseif VERSION == '3' and not pack_table(id, key) then
    return { 'damaged', id }
  end
end

touch_desk()
local entry = note_entry('upgrade', BY, '', '', 0, {}, UPGRADE, '')
if tonumber(NEW_VERSION) < 4 then
  -- The data keeps the layout of its version: an upgrade can stop between two versions.
  local kind, at, by, table_id, round, seq, transfers, digest = unpack(entries[1])
  redis.call('XADD', LEDGER, exact(entry) .. '-0', 'kind', kind, 'at', at, 'by', by, 'table', table_id,
    'round', round, 'seq', seq, 'transfers', transfers, 'event', UPGRADE, 'reply', '', 'chain', digest)
  entries = {}
end
write_books()
for _, write in ipairs(writes) do redis.call(unpack(write)) end
redis.call('HSET', METERS, 'schema', NEW_VERSION)
return { 'done', exact(entry) }
