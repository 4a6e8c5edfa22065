-- Adds an entry to the operators' log with the data of a user that an earlier release did not log.
-- KEYS: the user, the log, the log's head. ARGV: the time, the actor.
-- Returns 'ok', or 'unknown_user'.

local USER, LOG, HEAD = KEYS[1], KEYS[2], KEYS[3]
local AT, BY = ARGV[1], ARGV[2]

--include note

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

local name = redis.call('HGET', USER, 'name')
if not name then
  return 'unknown_user'
end
note(LOG, HEAD, {at = AT, what = 'user_noted', by = BY, about = name, client = '',
  kept = user_fields(USER, true)})
return answered('ok')
