-- Finds a session that still holds, and keeps it alive where its person is doing something.
-- KEYS: the session. The user's key is made here, since only the session knows whose it is; it has
--       the same hash tag.
-- ARGV: the prefix of users' keys, the longest idle time, the longest life and the least time
--       between two touches, all in ms; '1' to keep it alive.
-- Gives the user's name, role and csrf token, or nothing.

local session = redis.call('HMGET', KEYS[1], 'user', 'generation', 'csrf', 'created', 'touched')
if not session[1] then
  return false
end
local user = redis.call('HMGET', ARGV[1] .. session[1], 'name', 'role', 'enabled', 'generation')
local now = now_ms()
local left = tonumber(session[4]) + tonumber(ARGV[3]) - now
-- Last used a while after now: the clock was set back, and with it every time-out. Nobody knows
-- for how long he has done nothing.
local set_back = tonumber(session[5]) > now + 60000
if user[3] ~= '1' or user[4] ~= session[2] or left <= 0 or set_back then
  redis.call('DEL', KEYS[1])
  return false
end
if ARGV[5] == '1' and now - tonumber(session[5]) >= tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[1], 'touched', now)
  redis.call('PEXPIRE', KEYS[1], math.min(left, tonumber(ARGV[2])))
end
return {user[1], user[2], session[3]}
