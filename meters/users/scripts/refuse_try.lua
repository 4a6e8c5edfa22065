-- Records that a try failed, and locks what has failed too often. A device that had signed in before
-- is not locked then, but forgotten: from then on it is as any other.
-- KEYS: the log, its head, the user, the locks of the name, the devices of the name; tries, lock and
--       undecided tries of each that it counts against.
-- ARGV: the try; at, what, by, about, client; the digest of the device, empty where it is none that
--       had signed in; of each: its label, the most tries, the window and the lock-out in ms.
-- Gives 0, or how long it is now locked out, in ms.

--include note
--include tries

local FIRST = 6
local now = now_ms()
local wait = 0
local entry = {at = ARGV[2], what = ARGV[3], by = ARGV[4], about = ARGV[5], client = ARGV[6]}
note(KEYS[1], KEYS[2], entry)
decide_try(FIRST, ARGV[1])
for of = FIRST, #KEYS, 3 do
  local tries, lock = KEYS[of], KEYS[of + 1]
  local terms = 8 + (of - FIRST) / 3 * 4
  local label, lock_ms = ARGV[terms], tonumber(ARGV[terms + 3])
  redis.call('ZREMRANGEBYSCORE', tries, '-inf', now - tonumber(ARGV[terms + 2]))
  redis.call('ZADD', tries, now, ARGV[1])
  redis.call('PEXPIRE', tries, ARGV[terms + 2])
  note_lock(KEYS[3], KEYS[4], label, now)
  if redis.call('ZCARD', tries) >= tonumber(ARGV[terms + 1]) then
    redis.call('DEL', tries)
    if ARGV[7] ~= '' then
      redis.call('ZREM', KEYS[5], ARGV[7])
    else
      redis.call('SET', lock, '1', 'PX', lock_ms)
      note_lock(KEYS[3], KEYS[4], label, now + lock_ms)
      entry.what = 'locked_out'
      entry.about = string.sub(label, 1, 8) ~= 'address:' and ARGV[5] or ''
      note(KEYS[1], KEYS[2], entry)
      wait = math.max(wait, lock_ms)
    end
  end
end
return wait
