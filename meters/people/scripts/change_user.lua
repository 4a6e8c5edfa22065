-- Disables or enables a user, or sets his PIN. Whichever it is, his sessions end: they are of an
-- earlier generation. Whoever is enabled or has another PIN can sign in at once: his name is locked
-- out no more.
-- KEYS: the user, the administrators, the log, its head; tries, lock and undecided tries of his name.
-- ARGV: the folded name, 'disable', 'enable' or 'pin', the PIN's hash or ''; at, by, client.
-- Gives a status.

local user = redis.call('HMGET', KEYS[1], 'name', 'role', 'enabled')
if not user[1] then
  return 'unknown_user'
end
local act = ARGV[2]
local what = 'pin_set'
if act == 'pin' then
  redis.call('HSET', KEYS[1], 'pin', ARGV[3], 'pin_by', ARGV[5])
else
  local enabled = act == 'enable' and '1' or '0'
  if user[3] == enabled then
    return 'wrong_state'
  end
  if user[2] == 'administrator' then
    if act == 'enable' then
      redis.call('SADD', KEYS[2], ARGV[1])
    elseif redis.call('SCARD', KEYS[2]) <= 1 then
      return 'last_administrator'
    else
      redis.call('SREM', KEYS[2], ARGV[1])
    end
  end
  redis.call('HSET', KEYS[1], 'enabled', enabled)
  what = act == 'enable' and 'user_enabled' or 'user_disabled'
end
redis.call('HINCRBY', KEYS[1], 'generation', 1)
if act ~= 'disable' then
  redis.call('DEL', KEYS[5], KEYS[6], KEYS[7])
end
note(KEYS[3], KEYS[4], {at = ARGV[4], what = what, by = ARGV[5], about = user[1], client = ARGV[6]})
return 'ok'
