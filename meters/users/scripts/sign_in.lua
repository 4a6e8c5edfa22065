-- Opens a session for somebody whose PIN was right, and ends the one that the browser had.
-- KEYS: the user, the new session, the old session, the log, its head, the devices of the name; tries,
--       lock and undecided tries of each that the try counts against, first what is the name's own.
-- ARGV: the try, the user's generation, the folded name, the csrf token, the session's longest life
--       idle in ms; at, client; the device, the most devices, for how long one is known in ms;
--       the prefix of users' keys; the session's seal.
-- Gives the user's name and role, and '1' where they must choose a PIN first; or nothing where they
-- were disabled or locked out meanwhile; or 'pin_expired', which changes nothing either.

--include note
--include session
--include tries

local FIRST = 7
local user = redis.call('HMGET', KEYS[1], 'name', 'role', 'enabled', 'generation', 'pin_by', 'choose_by')
if user[3] ~= '1' or user[4] ~= ARGV[2] or not is_listed(ARGV[11], ARGV[3]) then
  return false
end
for of = FIRST, #KEYS, 3 do
  if redis.call('EXISTS', KEYS[of + 1]) == 1 then
    return false
  end
end
local given = user[5] ~= user[1]
if given and too_late(user[6]) then
  return 'pin_expired'
end

local entry = {at = ARGV[6], by = user[1], about = user[1], client = ARGV[7]}
local old = redis.call('HGET', KEYS[3], 'name')
if old then
  redis.call('DEL', KEYS[3])
  note(KEYS[4], KEYS[5], {at = ARGV[6], what = 'sign_out', by = old, about = old, client = ARGV[7]})
end

local now = now_ms()
redis.call('HSET', KEYS[2], 'user', ARGV[3], 'name', user[1], 'generation', user[4],
  'csrf', ARGV[4], 'seal', ARGV[12], 'created', now, 'touched', now)
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('DEL', KEYS[FIRST])
decide_try(FIRST, ARGV[1])
if ARGV[8] ~= '' then
  redis.call('ZADD', KEYS[6], now, ARGV[8])
  redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', now - tonumber(ARGV[10]))
  redis.call('PEXPIRE', KEYS[6], ARGV[10])
  local known = redis.call('ZREVRANGEBYSCORE', KEYS[6], '+inf', '-inf')
  for place = tonumber(ARGV[9]) + 1, #known do
    redis.call('ZREM', KEYS[6], known[place])
  end
end
redis.call('HSET', KEYS[1], 'signed_in_at', ARGV[6])
entry.what = 'sign_in'
note(KEYS[4], KEYS[5], entry)
return {user[1], user[2], given and '1' or ''}
