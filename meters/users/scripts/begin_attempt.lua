-- Records a sign-in attempt before its PIN is checked, unless one of its limits is locked.
-- KEYS: the user, the locks of the name; for each limit, its failed attempts, its lock and its
--       undecided attempts.
-- ARGV: the attempt, the time in ms after which an undecided attempt no longer counts; the two gaps
--       in ms of slowed attempts, at an address without and with recent failures; for each limit,
--       its label, the largest number of attempts, the window in ms and the duration of the lock in
--       ms. The limit with the label `everybody` slows attempts instead of locking them.
-- Returns nothing if the attempt is recorded. Otherwise returns 'locked' and the rest of the lock in
-- ms; 'busy' if undecided and failed attempts together reach a limit; or 'slowed' and the time to
-- wait in ms, if everybody together failed too often.

local USER, LOCKS = KEYS[1], KEYS[2]
local ATTEMPT, UNDECIDED_MS = ARGV[1], ARGV[2]
local CLEAN_GAP_MS, FAILED_GAP_MS = tonumber(ARGV[3]), tonumber(ARGV[4])

--include note
--include attempts

local counters = counters_from(3, 5)
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
  return {'locked', string.format('%.0f', wait)}
end

-- An attempt is undecided until its PIN is checked. Undecided attempts are counted like failed
-- ones, so many attempts at the same time cannot bypass the limit. But an undecided attempt does
-- not cause a lock: if its service died before the PIN check, nobody learned anything about the PIN.
local busy, everybody, failed_here = false, nil, false
for _, counter in ipairs(counters) do
  local undecided = counter.undecided
  redis.call('ZREMRANGEBYSCORE', counter.failed, '-inf', now - counter.window_ms)
  redis.call('ZREMRANGEBYSCORE', undecided, '-inf', now - tonumber(UNDECIDED_MS))
  local failed = redis.call('ZCARD', counter.failed)
  local is_full = failed + redis.call('ZCARD', undecided) >= counter.most
  if slows(counter) then
    everybody = is_full and counter or nil
  else
    busy = busy or is_full
    failed_here = failed_here or is_of_address(counter) and failed > 0
  end
end
if busy then
  return {'busy', '0'}
end

-- The gap also follows an undecided attempt, so many attempts at the same time do not avoid it. If
-- that attempt is right, the others do not wait longer.
if everybody then
  local last = math.max(latest(everybody.failed), latest(everybody.undecided))
  local left = last + (failed_here and FAILED_GAP_MS or CLEAN_GAP_MS) - now
  if left > 0 then
    return {'slowed', string.format('%.0f', left)}
  end
end

for _, counter in ipairs(counters) do
  redis.call('ZADD', counter.undecided, now, ATTEMPT)
  redis.call('PEXPIRE', counter.undecided, UNDECIDED_MS)
end
return false
