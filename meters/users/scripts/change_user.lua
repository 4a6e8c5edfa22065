-- Disables or enables a user, sets their PIN, or unlocks their name. Their sessions end, unless they
-- are only unlocked: they are of an earlier generation. A user who is enabled or has another PIN is
-- unlocked as well.
-- KEYS: the user, the administrators, the log, its head, the PINs that were set, what was done with the
--       user's account, and with that of who does it, the devices of the name; whatever is locked.
-- ARGV: the folded name, 'disable', 'enable', 'pin' or 'unlock', the PIN's hash or ''; at, by, client; the
--       session of who does it, empty where it is done by command; the prefix of users' keys; '1'
--       where the PIN is the user's own.
-- Gives a status.

--include note
--include session

if not may_keep_users(ARGV[7], ARGV[8]) then
  return 'session_ended'
end
local user = redis.call('HMGET', KEYS[1], 'name', 'role', 'enabled')
if not user[1] then
  return 'unknown_user'
end
local act = ARGV[2]
local what = 'pin_set'
if act == 'pin' then
  redis.call('HSET', KEYS[1], 'pin', ARGV[3])
  set_by(KEYS[1], ARGV[9] == '1' and user[1] or ARGV[5], user[1])
  if ARGV[9] ~= '1' then
    keep_setter(KEYS[5], user[1], ARGV[5])
  end
elseif act == 'unlock' then
  what = 'user_unlocked'
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
if act ~= 'unlock' then
  redis.call('HINCRBY', KEYS[1], 'generation', 1)
end
if act == 'disable' then
  redis.call('DEL', KEYS[8])
else
  for of = 9, #KEYS do
    redis.call('DEL', KEYS[of])
  end
end
note(KEYS[3], KEYS[4], {at = ARGV[4], what = what, by = ARGV[5], about = user[1], client = ARGV[6],
  kept = act == 'pin' and user_fields(KEYS[1], false) or nil},
  KEYS[6], KEYS[7])
return 'ok'
