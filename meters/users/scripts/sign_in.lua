-- Opens a session for a user whose PIN was right, and ends the browser's previous session.
-- KEYS: the user, the new session, the previous session, the log, the log's head, the devices of
--       the name; for each limit of the attempt, its failed attempts, its lock and its undecided
--       attempts. The limit for this one name is the first.
-- ARGV: the attempt, the user's generation, the name in lower case, the CSRF token; the
--       time, the user's network address; the device, the largest number of devices, the time in ms
--       for which a device stays known; the prefix of the users' keys; the seal of the session; the
--       role in the seal, and the digest of the PIN's stored hash.
-- Returns the user's name and role, and '1' if the user must choose a PIN first. Returns nothing,
-- and changes nothing, if the user was disabled, changed or locked after the PIN check. Returns
-- 'pin_expired', and changes nothing, if another person set the PIN too long ago.

local USER, SESSION, OLD_SESSION, LOG, HEAD = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DEVICES = KEYS[6]
local ATTEMPT, GENERATION, FOLDED, CSRF = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local AT, CLIENT, DEVICE, DEVICES_MOST, DEVICE_MS = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local USER_PREFIX, SEAL, SEALED_ROLE, PIN = ARGV[10], ARGV[11], ARGV[12], ARGV[13]

--include note
--include session
--include attempts

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

local counters = counters_from(7)
local name, role, enabled, generation, pin_by, choose_by = unpack(
  redis.call('HMGET', USER, 'name', 'role', 'enabled', 'generation', 'pin_by', 'choose_by'))
if enabled ~= '1' or generation ~= GENERATION or not is_listed(USER_PREFIX, FOLDED) then
  return false
end
for _, counter in ipairs(counters) do
  if redis.call('EXISTS', counter.lock) == 1 then
    return false
  end
end
local given = pin_by ~= name
if given and too_late(choose_by) then
  return 'pin_expired'
end

local entry = {at = AT, by = name, about = name, client = CLIENT}
local old = redis.call('HGET', OLD_SESSION, 'name')
if old then
  redis.call('DEL', OLD_SESSION)
  note(LOG, HEAD, {at = AT, what = 'sign_out', by = old, about = old, client = CLIENT})
end

local now = now_ms()
redis.call('HSET', SESSION, 'user', FOLDED, 'name', name, 'generation', generation,
  'csrf', CSRF, 'seal', SEAL, 'created', now, 'touched', now)
redis.call('PEXPIRE', SESSION, LONGEST_MS)
redis.call('DEL', counters[1].failed)
decide_attempt(counters, ATTEMPT)
if DEVICE ~= '' then
  redis.call('ZADD', DEVICES, now, DEVICE)
  redis.call('ZREMRANGEBYSCORE', DEVICES, '-inf', now - tonumber(DEVICE_MS))
  redis.call('PEXPIRE', DEVICES, DEVICE_MS)
  local known = redis.call('ZREVRANGEBYSCORE', DEVICES, '+inf', '-inf')
  for at = tonumber(DEVICES_MOST) + 1, #known do
    redis.call('ZREM', DEVICES, known[at])
  end
end
redis.call('HSET', USER, 'signed_in_at', AT)
entry.what = 'sign_in'
-- The service checked the PIN with these values. The audit compares these values with the log.
entry.kept = {'pin', PIN, 'role', SEALED_ROLE}
note(LOG, HEAD, entry)
return answered({name, role, given and '1' or ''})
