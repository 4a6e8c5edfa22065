-- Sets the PIN that a user has chosen, after the service checked the user's old PIN. This raises
-- the user's generation. So the user's other sessions end, because they belong to the earlier
-- generation.
-- KEYS: the user, the session, the log, the log's head, the index of log entries about the user;
--       for each limit of the attempt, its failed attempts, its lock and its undecided attempts.
--       The limit for this one name is the first.
-- ARGV: the attempt, the user's generation at the check of the old PIN, the hash of the new PIN;
--       the time, the user's network address; the session's new seal; the digest of the old PIN's
--       hash.
-- Returns 'ok' or 'session_ended'.

local USER, SESSION, LOG, HEAD, ACCOUNT_ACTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ATTEMPT, GENERATION, PIN, AT, CLIENT = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local SEAL, OLD_PIN = ARGV[6], ARGV[7]

--include note
--include session
--include attempts

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

local counters = counters_from(6)
local name, enabled, generation, choose_by, pin_by = unpack(
  redis.call('HMGET', USER, 'name', 'enabled', 'generation', 'choose_by', 'pin_by'))
decide_attempt(counters, ATTEMPT)
if enabled ~= '1' or generation ~= GENERATION or (pin_by ~= name and too_late(choose_by))
  or redis.call('HGET', SESSION, 'generation') ~= generation then
  return 'session_ended'
end
redis.call('DEL', counters[1].failed)
redis.call('HSET', USER, 'pin', PIN, 'pin_by', name)
redis.call('HDEL', USER, 'choose_by')
redis.call('HSET', SESSION, 'generation', redis.call('HINCRBY', USER, 'generation', 1),
  'seal', SEAL)
local kept = user_fields(USER, false)
kept[#kept + 1] = 'old_pin'
kept[#kept + 1] = OLD_PIN
note(LOG, HEAD, {at = AT, what = 'pin_chosen', by = name, about = name, client = CLIENT,
  kept = kept},
  ACCOUNT_ACTS)
return answered('ok')
