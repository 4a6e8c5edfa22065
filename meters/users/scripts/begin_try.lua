-- Notes a try to sign in before the PIN is looked at, unless what it counts against is locked.
-- KEYS: the user, the locks of the name; tries, lock and undecided tries of each that it counts against.
-- ARGV: the try, how long a try may be undecided in ms; of each: its label, the most tries, the window
--       and the lock-out in ms.
-- Gives 0, how long it is locked out in ms, or -1 where as many are undecided as may yet fail.

local USER, LOCKS = KEYS[1], KEYS[2]
local ATTEMPT, UNDECIDED_MS = ARGV[1], ARGV[2]

--include note
--include tries

local counters = counters_from(3, 3)
local now = now_ms()
local wait = 0
for _, counter in ipairs(counters) do
  local left = redis.call('PTTL', counter.lock)
  if left > 0 then
    note_lock(USER, LOCKS, counter.label, now + left)
    wait = math.max(wait, left)
  end
end
if wait > 0 then
  return wait
end

-- Tries that are not yet decided count too: many at once are no way round the count. They are no
-- failures, though; one that is never decided, since its worker died, told nobody anything.
local busy = false
for _, counter in ipairs(counters) do
  local tries, undecided = counter.tries, counter.undecided
  redis.call('ZREMRANGEBYSCORE', tries, '-inf', now - counter.window_ms)
  redis.call('ZREMRANGEBYSCORE', undecided, '-inf', now - tonumber(UNDECIDED_MS))
  local counted = redis.call('ZCARD', tries) + redis.call('ZCARD', undecided)
  busy = busy or counted >= counter.most
end
if busy then
  return -1
end

for _, counter in ipairs(counters) do
  redis.call('ZADD', counter.undecided, now, ATTEMPT)
  redis.call('PEXPIRE', counter.undecided, UNDECIDED_MS)
end
return 0
