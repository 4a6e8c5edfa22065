-- Copies events and replies of ledger entries to the tables that need them, before the entries are
-- deleted from Redis. A table needs the wagers event of its open round, and its kept replies. A
-- text that has changed meanwhile is not copied.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 tables  9 rounds  10 replies
-- ARGV  1 the time, RFC 3339   2 count of kept replies
--       3… for each kept reply: its field, its text and its new text; after them for each open round:
--       the table, the ledger entry of the wagers and the wagers event
-- Output  { 'done' }

local TABLES, ROUNDS, REPLIES = KEYS[8], KEYS[9], KEYS[10]
local FIRST, COUNT = 3, tonumber(ARGV[2])

--include tables

local rounds_begin = FIRST + 3 * COUNT
for at = FIRST, rounds_begin - 1, 3 do
  local field, text, new_text = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if redis.call('HGET', REPLIES, field) == text then redis.call('HSET', REPLIES, field, new_text) end
end
for at = rounds_begin, #ARGV, 3 do
  local table_id, entry, event = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if table_at(table_id)[TABLE_ENTRY] == tonumber(entry) then
    redis.call('HSET', ROUNDS, table_id, event)
    set_table(table_id, TABLE_ENTRY, 0)
  end
end
write_tables()
return { 'done' }
