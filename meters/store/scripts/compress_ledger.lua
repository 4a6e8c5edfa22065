-- Replaces the oldest entries of the ledger's stream with one block, which has the same ledger
-- entries in compressed form (`stored_entries.py`). No ledger entry is added, removed or changed.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the blocks
-- ARGV  1 the time, RFC 3339   2 the number of the block's first ledger entry
--       3 the id of the first entry of the stream, which begins with ARGV 2
--       4 the number of the block's last ledger entry, with which an entry of the stream ends
--       5 the compressed entries
-- Output, in order of precedence
--   { 'moved' }   the stream begins with another entry, or has none with the number of ARGV 4:
--                 another process has compressed or deleted entries. Nothing was done.
--   { 'done' }

local LEDGER, BLOCKS = KEYS[4], KEYS[8]
local FIRST, FIRST_ID, LAST, ENTRIES = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local last_id = LAST .. '-0'
local begins = redis.call('XRANGE', LEDGER, '-', '+', 'COUNT', 1)[1]
if not begins or begins[1] ~= FIRST_ID then return { 'moved' } end
if #redis.call('XRANGE', LEDGER, last_id, last_id) == 0 then return { 'moved' } end

redis.call('XADD', BLOCKS, last_id, 'first', FIRST, 'entries', ENTRIES)
redis.call('XTRIM', LEDGER, 'MINID', string.format('%d-0', tonumber(LAST) + 1))
return { 'done' }
