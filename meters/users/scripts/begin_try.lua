-- Notes a sign-in attempt before its PIN is checked, unless one of its limits is locked.
-- KEYS: the user, the locks of the name; for each limit its attempts, lock and undecided attempts.
-- ARGV: the attempt, the longest time undecided in ms; for each limit its label, the most attempts,
--       the window and the lock-out in ms.
-- Returns 0, the rest of the lock-out in ms, or -1 if as many attempts are undecided as may yet
-- fail.

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

-- Undecided attempts count too, so many attempts in parallel cannot bypass the limit. But they are
-- not failures: an attempt that is never decided, because its worker died, revealed nothing.
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
