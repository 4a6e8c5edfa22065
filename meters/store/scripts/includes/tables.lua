-- The states of gaming tables. Redis has them in one hash: a field for each table, with the packed
-- array `PackedTable` of `script_steps.py`. So a script reads all tables that it needs with one
-- command, and writes all changed tables with one command. Until the tables are written, a script
-- reads their states from `tables` and not from Redis: a batch can have two events of one table.

local tables, changed_tables = {}, {}

-- Lua fills an array faster if it knows the size. So the elements are unpacked without the first
-- byte, which says that they are an array.
local function array_of(_, ...) return { ... } end

local function read_tables(ids)
  if #ids == 0 then return end
  local stored = redis.call('HMGET', TABLES, unpack(ids))
  for index, id in ipairs(ids) do
    tables[id] = stored[index] and array_of(cmsgpack.unpack_limit(stored[index], TABLE_FIELDS, 1)) or {
      [TABLE_LAST] = 0, [TABLE_OVER] = '', [TABLE_HELD] = '', [TABLE_ROUND] = '', [TABLE_BASIS] = 0,
      [TABLE_DRAW] = '', [TABLE_CONTRIBUTED] = {}, [TABLE_ENTRY] = 0, [TABLE_KNOWN] = '',
    }
  end
end

local function table_at(id)
  if not tables[id] then read_tables({ id }) end
  return tables[id]
end

local function set_table(id, position, value)
  tables[id][position] = value
  changed_tables[id] = true
end

local function write_tables()
  local written = {}
  for id in pairs(changed_tables) do
    written[#written + 1], written[#written + 2] = id, cmsgpack.pack(tables[id])
  end
  if #written > 0 then redis.call('HSET', TABLES, unpack(written)) end
end
