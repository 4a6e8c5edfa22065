-- Records that an attempt failed, and locks each limit with too many failures. A device on which
-- the name has signed in is not locked but forgotten: from then on it is like any other.
-- KEYS: the log, its head, the user, the locks of the name, the devices of the name; for each limit
--       its attempts, lock and undecided attempts.
-- ARGV: the attempt; at, what, by, about, client; the digest of the device, empty if the name has
--       not signed in on it; for each limit its label, the most attempts, the window and the
--       lock-out in ms.
-- Returns 0, or the duration of the lock-out in ms.

local LOG, HEAD, USER, LOCKS, DEVICES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ATTEMPT, AT, WHAT, BY, ABOUT = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local CLIENT, DEVICE = ARGV[6], ARGV[7]

--include note
--include tries

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

local counters = counters_from(6, 8)
local now = now_ms()
local wait = 0
local entry = {at = AT, what = WHAT, by = BY, about = ABOUT, client = CLIENT}
note(LOG, HEAD, entry)
decide_try(counters, ATTEMPT)
for _, counter in ipairs(counters) do
  local tries, label, lock_ms = counter.tries, counter.label, counter.lock_ms
  redis.call('ZREMRANGEBYSCORE', tries, '-inf', now - counter.window_ms)
  redis.call('ZADD', tries, now, ATTEMPT)
  redis.call('PEXPIRE', tries, counter.window_ms)
  note_lock(USER, LOCKS, label, now)
  if redis.call('ZCARD', tries) >= counter.most then
    redis.call('DEL', tries)
    if DEVICE ~= '' then
      redis.call('ZREM', DEVICES, DEVICE)
    else
      redis.call('SET', counter.lock, '1', 'PX', lock_ms)
      note_lock(USER, LOCKS, label, now + lock_ms)
      entry.what = 'locked_out'
      entry.about = string.sub(label, 1, 8) ~= 'address:' and ABOUT or ''
      note(LOG, HEAD, entry)
      wait = math.max(wait, lock_ms)
    end
  end
end
return answered(wait)
