-- Adds a user.
-- KEYS: the user, the users, the administrators, the log, its head.
-- ARGV: the folded name, the name, the role, the PIN's hash; at, by, client.
-- Gives a status.

if redis.call('EXISTS', KEYS[1]) == 1 then
  return 'name_taken'
end
redis.call('HSET', KEYS[1], 'name', ARGV[2], 'role', ARGV[3], 'pin', ARGV[4], 'enabled', '1',
  'generation', '1', 'added_at', ARGV[5], 'added_by', ARGV[6], 'pin_by', ARGV[6])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
if ARGV[3] == 'administrator' then
  redis.call('SADD', KEYS[3], ARGV[1])
end
note(KEYS[4], KEYS[5], {at = ARGV[5], what = 'user_added', by = ARGV[6], about = ARGV[2], client = ARGV[7]})
return 'ok'
