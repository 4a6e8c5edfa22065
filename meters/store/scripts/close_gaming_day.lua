-- Closes a gaming day: writes a meter reading, with each account and accounting meter, into the
-- ledger. An audit compares the reading with the values that the ledger requires (duty D19). A
-- gaming day has the entries after the previous meter reading, up to and including its own reading.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 the actor
--       4 the day that the caller believes open, empty if there is none   5 the day to open
--       6 the time of ARGV 1, in seconds since 1970
-- Output, in order of precedence
--   { 'terms' }          the link's terms are not those of ARGV 2
--   { 'other', day }     another day is open, because another service has already opened it
--   { 'clock', seconds } the caller's clock differs from the clock of Redis by this many seconds:
--                        nothing was done
--   { 'begun' }          the day of ARGV 5 is open, without a reading: no day was open, or the open
--                        day was later than ARGV 5, or the open day was already closed
--   { 'done', entry }

local BY, OPEN_DAY, DUE_DAY, NOW_SECONDS = ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--include books
--include terms
--include clock

local open = meters['day'] or ''
if open ~= OPEN_DAY then return { 'other', open } end
-- With different clocks, one service could close a gaming day too early for another service.
local off = clock_off(NOW_SECONDS)
if open ~= '' and off then return { 'clock', exact(off) } end
if open == '' or DUE_DAY < open or open <= (meters['day_closed'] or '') then
  redis.call('HSET', METERS, 'day', DUE_DAY)
  return { 'begun' }
end

-- The digits in Redis are copied as text, because a Lua number could lose some digits.
local function written(key)
  local hash, names, parts = read_hash(key), {}, {}
  for name in pairs(hash) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do parts[#parts + 1] = string.format('"%s":%s', name, hash[name]) end
  return '{' .. table.concat(parts, ',') .. '}'
end

local reading = string.format('{"day":"%s","accounts":%s,"tallies":%s}', open, written(ACCOUNTS), written(TALLIES))
local entry = note_entry('reading', BY, '', '', 0, {}, reading, '')
write_books()
redis.call('HSET', METERS, 'day', DUE_DAY, 'day_closed', open, 'reading', exact(entry), 'reading_at', AT)
return { 'done', exact(entry) }
