-- Upgrades the users' keys from one version of their layout to the next.
-- KEYS: the log, the log's head, the list of users. ARGV: the version that the keys must have, the
--       new version; the time, the actor, the text about the upgrade; the prefix of the users'
--       keys.
-- Returns 'ok', or 'another' if the keys have another version.

local LOG, HEAD, USERS = KEYS[1], KEYS[2], KEYS[3]
local VERSION, NEW_VERSION, AT, BY, ABOUT = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local USER_PREFIX = ARGV[6]

--include note
--include session

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

if (redis.call('HGET', HEAD, 'schema') or '1') ~= VERSION then
  return 'another'
end
if VERSION == '2' then
  -- From schema version 3 on, a PIN that another person set is valid for only 24 hours. The 24
  -- hours begin now, because it is not known when the PIN was set.
  for _, folded in ipairs(redis.call('ZRANGE', USERS, 0, -1)) do
    local user = USER_PREFIX .. folded
    local name, pin_by, added_by = unpack(redis.call('HMGET', user, 'name', 'pin_by', 'added_by'))
    set_by(user, pin_by or added_by or '', name)
  end
end
note(LOG, HEAD, {at = AT, what = 'upgraded', by = BY, about = ABOUT, client = ''})
redis.call('HSET', HEAD, 'schema', NEW_VERSION)
return answered('ok')
