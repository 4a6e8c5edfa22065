-- Gives somebody the PIN that he has chosen, the old one having been right. His other sessions end:
-- they are of an earlier generation.
-- KEYS: the user, the session, the log, its head, what was done with the user's account; tries, lock
--       and undecided tries of each that the try counts against, first what is the name's own.
-- ARGV: the try, the user's generation when the old PIN was looked at, the PIN's hash; at, client; the
--       session's seal from then on; the digest of what is kept of the old PIN.
-- Gives a status.

local USER, SESSION, LOG, HEAD, ACCOUNT_ACTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local ATTEMPT, GENERATION, PIN, AT, CLIENT = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local SEAL, OLD_PIN = ARGV[6], ARGV[7]

--include note
--include session
--include tries

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

local counters = counters_from(6)
local name, enabled, generation, choose_by, pin_by = unpack(
  redis.call('HMGET', USER, 'name', 'enabled', 'generation', 'choose_by', 'pin_by'))
decide_try(counters, ATTEMPT)
if enabled ~= '1' or generation ~= GENERATION or (pin_by ~= name and too_late(choose_by))
  or redis.call('HGET', SESSION, 'generation') ~= generation then
  return 'session_ended'
end
redis.call('DEL', counters[1].tries)
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
