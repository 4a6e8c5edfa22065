-- Ends a session.
-- KEYS: the session, the log, the log's head. ARGV: the time, the user's network address.

local SESSION, LOG, HEAD = KEYS[1], KEYS[2], KEYS[3]
local AT, CLIENT = ARGV[1], ARGV[2]

--include note

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

local name = redis.call('HGET', SESSION, 'name')
if name then
  redis.call('DEL', SESSION)
  note(LOG, HEAD, {at = AT, what = 'sign_out', by = name, about = name, client = CLIENT})
end
return answered(0)
