-- Disables or enables a user, sets their PIN, or unlocks their name. Each act, except unlocking,
-- raises the user's generation. This ends the user's sessions, which belong to the earlier
-- generation. Enabling a user, or setting their PIN, unlocks their name as well.
-- KEYS: the user, the set of administrators, the log, the log's head; the list of recently set
--       PINs; the index of log entries about the user, and about the actor; the devices of the
--       name; last, all keys of the name's locks.
-- ARGV: the name in lower case, 'disable', 'enable', 'pin' or 'unlock', the hash of the new PIN or
--       ''; the time, the actor, the actor's network address; the key of the actor's session, empty
--       for a command; the prefix of the users' keys; '1' if the PIN is the user's own.
-- Returns 'ok', or the code of the refusal.

local USER, ADMINISTRATORS, LOG, HEAD, PINS_SET = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ACCOUNT_ACTS, ACTOR_ACTS, DEVICES = KEYS[6], KEYS[7], KEYS[8]
local FOLDED, ACT, PIN, AT, BY = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local CLIENT, SESSION, USER_PREFIX, OWN_PIN = ARGV[6], ARGV[7], ARGV[8], ARGV[9]

local FIRST_LOCK = 9

--include note
--include session

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

if not may_keep_users(SESSION, USER_PREFIX) then
  return 'session_ended'
end
local name, role, was_enabled = unpack(redis.call('HMGET', USER, 'name', 'role', 'enabled'))
if not name then
  return 'unknown_user'
end
local what = 'pin_set'
if ACT == 'pin' then
  redis.call('HSET', USER, 'pin', PIN)
  set_by(USER, OWN_PIN == '1' and name or BY, name)
  if OWN_PIN ~= '1' then
    keep_setter(PINS_SET, name, BY)
  end
elseif ACT == 'unlock' then
  what = 'user_unlocked'
else
  local enabled = ACT == 'enable' and '1' or '0'
  if was_enabled == enabled then
    return 'wrong_state'
  end
  if role == 'administrator' then
    if ACT == 'enable' then
      redis.call('SADD', ADMINISTRATORS, FOLDED)
    elseif redis.call('SCARD', ADMINISTRATORS) <= 1 then
      return 'last_administrator'
    else
      redis.call('SREM', ADMINISTRATORS, FOLDED)
    end
  end
  redis.call('HSET', USER, 'enabled', enabled)
  what = ACT == 'enable' and 'user_enabled' or 'user_disabled'
end
if ACT ~= 'unlock' then
  redis.call('HINCRBY', USER, 'generation', 1)
end
if ACT == 'disable' then
  redis.call('DEL', DEVICES)
else
  for at = FIRST_LOCK, #KEYS do
    redis.call('DEL', KEYS[at])
  end
end
local kept = ACT == 'pin' and user_fields(USER, false) or {}
-- In the log entry, `about` is the name from the user's Redis hash, and `account` is the name in
-- the request. The audit compares the two names.
kept[#kept + 1] = 'account'
kept[#kept + 1] = FOLDED
note(LOG, HEAD, {at = AT, what = what, by = BY, about = name, client = CLIENT, kept = kept},
  ACCOUNT_ACTS, ACTOR_ACTS)
return answered('ok')
