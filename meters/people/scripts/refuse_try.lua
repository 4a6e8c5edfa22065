-- Records that a try failed, and locks out the name or the address that has failed too often.
-- KEYS: tries, lock and undecided tries of the name, the same of the address, the log,
--       its head.
-- ARGV: the try, the window in ms, the lock-out in ms, the most tries by name, by address; at, what,
--       by, about, client.
-- Gives 0, or how long it is now locked out, in ms.

local now = now_ms()
local wait = 0
local entry = {at = ARGV[6], what = ARGV[7], by = ARGV[8], about = ARGV[9], client = ARGV[10]}
note(KEYS[7], KEYS[8], entry)
for of = 0, 1 do
  local tries, lock, undecided = KEYS[1 + 3 * of], KEYS[2 + 3 * of], KEYS[3 + 3 * of]
  redis.call('ZREM', undecided, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', tries, '-inf', now - tonumber(ARGV[2]))
  redis.call('ZADD', tries, now, ARGV[1])
  redis.call('PEXPIRE', tries, ARGV[2])
  if redis.call('ZCARD', tries) >= tonumber(ARGV[4 + of]) then
    redis.call('SET', lock, '1', 'PX', ARGV[3])
    redis.call('DEL', tries)
    entry.what = 'locked_out'
    entry.about = of == 0 and ARGV[9] or ''
    note(KEYS[7], KEYS[8], entry)
    wait = tonumber(ARGV[3])
  end
end
return wait
