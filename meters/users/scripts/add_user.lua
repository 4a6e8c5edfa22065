-- Adds a user.
-- KEYS: the user, the users, the administrators, the log, its head; the PINs that were set; what was
--       done with the user's account, and with that of who does it.
-- ARGV: the folded name, the name, the role, the PIN's hash; at, by, client; the session of who does
--       it, empty where it is done by command; the prefix of users' keys; '1' where the PIN is the
--       user's own already.
-- Gives a status.

--include note
--include session

if not may_keep_users(ARGV[8], ARGV[9]) then
  return 'session_ended'
end
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 'name_taken'
end
redis.call('HSET', KEYS[1], 'name', ARGV[2], 'role', ARGV[3], 'pin', ARGV[4], 'enabled', '1',
  'generation', '1', 'added_at', ARGV[5], 'added_by', ARGV[6])
set_by(KEYS[1], ARGV[10] == '1' and ARGV[2] or ARGV[6], ARGV[2])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
if ARGV[3] == 'administrator' then
  redis.call('SADD', KEYS[3], ARGV[1])
end
-- Who adds users by command keeps the machine, and is none of the users.
if ARGV[8] ~= '' then
  keep_setter(KEYS[6], ARGV[2], ARGV[6])
end
note(KEYS[4], KEYS[5], {at = ARGV[5], what = 'user_added', by = ARGV[6], about = ARGV[2], client = ARGV[7],
  kept = user_fields(KEYS[1], true)},
  KEYS[7], KEYS[8])
return 'ok'
