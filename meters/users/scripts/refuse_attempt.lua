-- Records that a sign-in attempt failed, and locks each limit with too many failures. If the limit
-- is that of a device on which the name has signed in, the device is not locked. It is forgotten,
-- so it is a new device for the next attempt.
-- KEYS: the log, the log's head, the user, the locks of the name, the devices of the name; for each
--       limit, its failed attempts, its lock and its undecided attempts.
-- ARGV: the attempt; the time, the act, the actor, the user, the actor's network address; the
--       digest of the device, empty if the name has never signed in on the device; for each limit,
--       its label, the largest number of attempts, the window in ms and the duration of the lock in
--       ms.
-- Returns 0, or the duration of the new lock in ms.

local LOG, HEAD, USER, LOCKS, DEVICES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ATTEMPT, AT, WHAT, BY, ABOUT = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local CLIENT, DEVICE = ARGV[6], ARGV[7]

--include note
--include attempts

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

local counters = counters_from(6, 8)
local now = now_ms()
local wait = 0
local entry = {at = AT, what = WHAT, by = BY, about = ABOUT, client = CLIENT}
note(LOG, HEAD, entry)
decide_attempt(counters, ATTEMPT)
for _, counter in ipairs(counters) do
  local failed, label, lock_ms = counter.failed, counter.label, counter.lock_ms
  redis.call('ZREMRANGEBYSCORE', failed, '-inf', now - counter.window_ms)
  redis.call('ZADD', failed, now, ATTEMPT)
  redis.call('PEXPIRE', failed, counter.window_ms)
  if not slows(counter) then
    note_lock(USER, LOCKS, label, now)
  end
  if redis.call('ZCARD', failed) >= counter.most and not slows(counter) then
    redis.call('DEL', failed)
    if DEVICE ~= '' then
      redis.call('ZREM', DEVICES, DEVICE)
    else
      redis.call('SET', counter.lock, '1', 'PX', lock_ms)
      note_lock(USER, LOCKS, label, now + lock_ms)
      entry.what = 'locked_out'
      entry.about = is_of_address(counter) and '' or ABOUT
      note(LOG, HEAD, entry)
      wait = math.max(wait, lock_ms)
    end
  end
end
return answered(wait)
