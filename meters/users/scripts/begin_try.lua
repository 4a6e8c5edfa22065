-- Notes a try to sign in before the PIN is looked at, unless what it counts against is locked.
-- KEYS: the user, the locks of the name; tries, lock and undecided tries of each that it counts against.
-- ARGV: the try, how long a try may be undecided in ms; of each: its label, the most tries, the window
--       and the lock-out in ms.
-- Gives 0, how long it is locked out in ms, or -1 where as many are undecided as may yet fail.

--include note
--include tries

local FIRST = 3
local now = now_ms()
local wait = 0
for of = FIRST, #KEYS, 3 do
  local left = redis.call('PTTL', KEYS[of + 1])
  if left > 0 then
    note_lock(KEYS[1], KEYS[2], ARGV[3 + (of - FIRST) / 3 * 4], now + left)
    wait = math.max(wait, left)
  end
end
if wait > 0 then
  return wait
end

-- Tries that are not yet decided count too: many at once are no way round the count. They are no
-- failures, though; one that is never decided, since its worker died, told nobody anything.
local busy = false
for of = FIRST, #KEYS, 3 do
  local tries, undecided = KEYS[of], KEYS[of + 2]
  local terms = 3 + (of - FIRST) / 3 * 4
  redis.call('ZREMRANGEBYSCORE', tries, '-inf', now - tonumber(ARGV[terms + 2]))
  redis.call('ZREMRANGEBYSCORE', undecided, '-inf', now - tonumber(ARGV[2]))
  local counted = redis.call('ZCARD', tries) + redis.call('ZCARD', undecided)
  busy = busy or counted >= tonumber(ARGV[terms + 1])
end
if busy then
  return -1
end

for of = FIRST, #KEYS, 3 do
  redis.call('ZADD', KEYS[of + 2], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[of + 2], ARGV[2])
end
return 0
