-- Counts a try to sign in before the PIN is looked at, unless the name or the address is locked out.
-- KEYS: tries and lock of the name, tries and lock of the address.
-- ARGV: the try, the window in ms, the most tries by name, by address.
-- Gives 0, or how long it is locked out, in ms.

local now = now_ms()
local window = tonumber(ARGV[2])
local wait = math.max(0, redis.call('PTTL', KEYS[2]), redis.call('PTTL', KEYS[4]))

-- Tries that are not yet decided count too: many at once are no way round the count.
for at, key in ipairs({KEYS[1], KEYS[3]}) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
  if redis.call('ZCARD', key) >= tonumber(ARGV[2 + at]) then
    local oldest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    wait = math.max(wait, tonumber(oldest[2]) + window - now)
  end
end
if wait > 0 then
  return wait
end

for _, key in ipairs({KEYS[1], KEYS[3]}) do
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('PEXPIRE', key, window)
end
return 0
