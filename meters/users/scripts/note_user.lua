-- Notes in the operators' log what an earlier release did not write down of a user.
-- KEYS: the user, the log, its head. ARGV: at, by.
-- Gives 'ok', or 'unknown_user'.

--include note

local name = redis.call('HGET', KEYS[1], 'name')
if not name then
  return 'unknown_user'
end
note(KEYS[2], KEYS[3], {at = ARGV[1], what = 'user_noted', by = ARGV[2], about = name, client = '',
  kept = user_fields(KEYS[1], true)})
return 'ok'
