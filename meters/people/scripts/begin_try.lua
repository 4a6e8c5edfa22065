-- Notes a try to sign in before the PIN is looked at, unless the name or the address is locked out.
-- KEYS: tries, lock and undecided tries of the name, the same of the address.
-- ARGV: the try, the window in ms, how long a try may be undecided in ms, the most tries by name,
--       by address.
-- Gives 0, how long it is locked out in ms, or -1 where as many are undecided as may yet fail.

local now = now_ms()
local wait = math.max(0, redis.call('PTTL', KEYS[2]), redis.call('PTTL', KEYS[5]))
if wait > 0 then
  return wait
end

-- Tries that are not yet decided count too: many at once are no way round the count. They are no
-- failures, though; one that is never decided, since its worker died, told nobody anything.
local busy = false
for of = 0, 1 do
  local tries, undecided = KEYS[1 + 3 * of], KEYS[3 + 3 * of]
  redis.call('ZREMRANGEBYSCORE', tries, '-inf', now - tonumber(ARGV[2]))
  redis.call('ZREMRANGEBYSCORE', undecided, '-inf', now - tonumber(ARGV[3]))
  local counted = redis.call('ZCARD', tries) + redis.call('ZCARD', undecided)
  busy = busy or counted >= tonumber(ARGV[4 + of])
end
if busy then
  return -1
end

for _, key in ipairs({KEYS[3], KEYS[6]}) do
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('PEXPIRE', key, ARGV[3])
end
return 0
