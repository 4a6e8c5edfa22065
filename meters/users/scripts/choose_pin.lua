-- Gives somebody the PIN that he has chosen, the old one having been right. His other sessions end:
-- they are of an earlier generation.
-- KEYS: the user, the session, the log, its head, what was done with the user's account; tries, lock
--       and undecided tries of each that the try counts against, first what is the name's own.
-- ARGV: the try, the user's generation when the old PIN was looked at, the PIN's hash; at, client; the
--       session's seal from then on.
-- Gives a status.

--include note
--include session
--include tries

local FIRST = 6
local user = redis.call('HMGET', KEYS[1], 'name', 'enabled', 'generation', 'choose_by', 'pin_by')
decide_try(FIRST, ARGV[1])
if user[2] ~= '1' or user[3] ~= ARGV[2] or (user[5] ~= user[1] and too_late(user[4]))
  or redis.call('HGET', KEYS[2], 'generation') ~= user[3] then
  return 'session_ended'
end
redis.call('DEL', KEYS[FIRST])
redis.call('HSET', KEYS[1], 'pin', ARGV[3], 'pin_by', user[1])
redis.call('HDEL', KEYS[1], 'choose_by')
redis.call('HSET', KEYS[2], 'generation', redis.call('HINCRBY', KEYS[1], 'generation', 1),
  'seal', ARGV[6])
note(KEYS[3], KEYS[4], {at = ARGV[4], what = 'pin_chosen', by = user[1], about = user[1], client = ARGV[5],
  kept = user_fields(KEYS[1], false)},
  KEYS[5])
return 'ok'
