-- Records up to which entry the beginning of a ledger is trimmed (deleted from Redis). The trimmed
-- entries are in the archive, and a replay begins with the checkpoint after them. After this script,
-- `pitlink archive` deletes the entries in small pieces, so that no table waits long.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the checkpoint  9 the compressed blocks of the ledger
-- ARGV  1 the time, RFC 3339   2 the last entry to trim   3 the ledger entry about its archiving
--       4 the checkpoint at the entry of ARGV 2, as text
-- Output, in order of precedence
--   { 'before', entry }       these entries, or more, are already trimmed
--   { 'not_archived', entry } the archive ends before the entry of ARGV 2, or the ledger lacks the
--                             entry of ARGV 3; `entry` is the last archived entry
--   { 'done' }

local METERS, LEDGER, ACTS, CHECKPOINT, BLOCKS = KEYS[3], KEYS[4], KEYS[7], KEYS[8], KEYS[9]
local LAST, ARCHIVED_BY, TEXT = ARGV[2], ARGV[3], ARGV[4]

local last = tonumber(LAST)
local before = redis.call('HGET', CHECKPOINT, 'entries') or '0'
if tonumber(before) >= last then return { 'before', before } end
local archived = redis.call('HGET', METERS, 'archived') or '0'

-- Checks that the ledger has an entry. The id of a stream entry or block is the number of its last
-- ledger entry.
local function has(number)
  local noted = redis.call('XRANGE', LEDGER, number .. '-0', '+', 'COUNT', 1)[1]
  if noted then
    local id, fields = unpack(noted)
    local name, packed = unpack(fields)
    local first = tonumber(string.match(id, '^%d+'))
    if name == 'entries' then first = first - #cmsgpack.unpack(packed) + 1 end
    if first <= tonumber(number) then return true end
  end
  local block = redis.call('XRANGE', BLOCKS, number .. '-0', '+', 'COUNT', 1)[1]
  if not block then return false end
  local _, fields = unpack(block)
  local _, first = unpack(fields)
  return tonumber(first) <= tonumber(number)
end

if tonumber(archived) < last or tonumber(ARCHIVED_BY) <= last or not has(ARCHIVED_BY) then
  return { 'not_archived', archived }
end

redis.call('HSET', CHECKPOINT, 'entries', LAST, 'by', ARCHIVED_BY, 'text', TEXT)
redis.call('ZREMRANGEBYSCORE', ACTS, '-inf', LAST)
return { 'done' }
