-- Ends a session.
-- KEYS: the session, the log, its head. ARGV: at, client.

--include note

local name = redis.call('HGET', KEYS[1], 'name')
if name then
  redis.call('DEL', KEYS[1])
  note(KEYS[2], KEYS[3], {at = ARGV[1], what = 'sign_out', by = name, about = name, client = ARGV[2]})
end
return 0
