-- Records a sign-in attempt before its PIN is checked, unless one of its limits is locked.
-- KEYS: the user, the locks of the name; for each limit, its failed attempts, its lock and its
--       undecided attempts.
-- ARGV: the attempt, the time in ms after which an undecided attempt no longer counts; for each
--       limit, its label, the largest number of attempts, the window in ms and the duration of the
--       lock in ms.
-- Returns 0 if the attempt is recorded. If a limit is locked, returns the rest of the lock in ms.
-- If undecided and failed attempts together reach a limit, returns -1.

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

-- An attempt is undecided until its PIN is checked. Undecided attempts are counted like failed
-- ones, so many attempts at the same time cannot bypass the limit. But an undecided attempt does
-- not cause a lock: if its worker died before the PIN check, nobody learned anything about the PIN.
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
