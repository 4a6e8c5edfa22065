-- Adds a user.
-- KEYS: the user, the list of users, the set of administrators, the log, the log's head; the list
--       of recently set PINs; the index of log entries about the user, and about the actor.
-- ARGV: the name in lower case, the name, the role, the hash of the PIN; the time, the actor, the
--       actor's network address; the key of the actor's session, empty for a command; the prefix of
--       the users' keys; '1' if the PIN is already the user's own.
-- Returns 'ok', or the code of the refusal.

local USER, USERS, ADMINISTRATORS, LOG, HEAD = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local PINS_SET, ACCOUNT_ACTS, ACTOR_ACTS = KEYS[6], KEYS[7], KEYS[8]
local FOLDED, NAME, ROLE, PIN, AT = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local BY, CLIENT, SESSION, USER_PREFIX, OWN_PIN = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]

--include note
--include session

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

if not may_keep_users(SESSION, USER_PREFIX) then
  return 'session_ended'
end
if redis.call('EXISTS', USER) == 1 then
  return 'name_taken'
end
redis.call('HSET', USER, 'name', NAME, 'role', ROLE, 'pin', PIN, 'enabled', '1',
  'generation', '1', 'added_at', AT, 'added_by', BY)
set_by(USER, OWN_PIN == '1' and NAME or BY, NAME)
redis.call('ZADD', USERS, 0, FOLDED)
if ROLE == 'administrator' then
  redis.call('SADD', ADMINISTRATORS, FOLDED)
end
-- A person who adds users with a `pitlink` command has access to the machine, and is not one of the
-- users. So this person is not recorded as a setter of a PIN.
if SESSION ~= '' then
  keep_setter(PINS_SET, NAME, BY)
end
local kept = user_fields(USER, true)
kept[#kept + 1] = 'account'
kept[#kept + 1] = FOLDED
note(LOG, HEAD, {at = AT, what = 'user_added', by = BY, about = NAME, client = CLIENT, kept = kept},
  ACCOUNT_ACTS, ACTOR_ACTS)
return answered('ok')
