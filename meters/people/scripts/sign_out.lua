-- Ends a session.
-- KEYS: the session, the log. ARGV: at, client.

local name = redis.call('HGET', KEYS[1], 'name')
if name then
  redis.call('DEL', KEYS[1])
  note(KEYS[2], {at = ARGV[1], what = 'sign_out', by = name, about = name, client = ARGV[2]})
end
return 0
