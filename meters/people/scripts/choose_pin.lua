-- Gives somebody the PIN that he has chosen, the old one having been right. His other sessions end:
-- they are of an earlier generation.
-- KEYS: the user; tries, lock and undecided tries of the name, the same of the address; his session,
--       the log, its head.
-- ARGV: the try, the user's generation when the old PIN was looked at, the PIN's hash; at, client.
-- Gives a status.

local user = redis.call('HMGET', KEYS[1], 'name', 'enabled', 'generation')
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[7], ARGV[1])
if user[2] ~= '1' or user[3] ~= ARGV[2]
  or redis.call('HGET', KEYS[8], 'generation') ~= user[3] then
  return 'session_ended'
end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'pin', ARGV[3], 'pin_by', user[1])
redis.call('HSET', KEYS[8], 'generation', redis.call('HINCRBY', KEYS[1], 'generation', 1))
note(KEYS[9], KEYS[10], {at = ARGV[4], what = 'pin_chosen', by = user[1], about = user[1], client = ARGV[5]})
return 'ok'
