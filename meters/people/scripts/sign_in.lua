-- Opens a session for somebody whose PIN was right, and ends the one that he had.
-- KEYS: the user; tries, lock and undecided tries of the name, the same of the address; the new
--       session, the old session, the log, its head.
-- ARGV: the try, the user's generation, the folded name, the csrf token, the session's longest life
--       idle in ms; at, client.
-- Gives the user's name and role, or nothing where he was disabled or locked out meanwhile.

local user = redis.call('HMGET', KEYS[1], 'name', 'role', 'enabled', 'generation')
if user[3] ~= '1' or user[4] ~= ARGV[2] then
  return false
end
if redis.call('EXISTS', KEYS[3], KEYS[6]) > 0 then
  return false
end

local entry = {at = ARGV[6], by = user[1], about = user[1], client = ARGV[7]}
local old = redis.call('HGET', KEYS[9], 'name')
if old then
  redis.call('DEL', KEYS[9])
  note(KEYS[10], KEYS[11], {at = ARGV[6], what = 'sign_out', by = old, about = old, client = ARGV[7]})
end

local now = now_ms()
redis.call('HSET', KEYS[8], 'user', ARGV[3], 'name', user[1], 'generation', user[4],
  'csrf', ARGV[4], 'created', now, 'touched', now)
redis.call('PEXPIRE', KEYS[8], ARGV[5])
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[7], ARGV[1])
redis.call('HSET', KEYS[1], 'signed_in_at', ARGV[6])
entry.what = 'sign_in'
note(KEYS[10], KEYS[11], entry)
return {user[1], user[2]}
