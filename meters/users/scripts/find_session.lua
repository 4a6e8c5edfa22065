-- Finds a session that still holds, and keeps it alive where its person is doing something.
-- KEYS: the session, the PINs that were set.
-- ARGV: the prefix of users' keys, the longest idle time and the least time between two touches, in
--       ms; '1' to keep it alive; '1' where the person acts.
-- Gives the user's name, role and csrf token, '1' where they must choose a PIN first, the session's
-- generation and seal, and where the person acts whose PIN was set by whom in the last 24 hours; or
-- nothing.

--include note
--include session

local session = session_of(KEYS[1], ARGV[1])
if not session then
  redis.call('DEL', KEYS[1])
  return false
end
local now = now_ms()
if ARGV[4] == '1' and now - session.touched >= tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], 'touched', now)
  redis.call('PEXPIRE', KEYS[1], math.min(session.left_ms, tonumber(ARGV[2])))
end
local found = {
  session.name, session.role, session.csrf, session.must_choose and '1' or '', session.generation,
  session.seal,
}
if ARGV[5] == '1' then
  local since = string.format('%.0f', now - PIN_SET_MS)
  for _, set in ipairs(redis.call('ZREVRANGEBYSCORE', KEYS[2], '+inf', since)) do
    found[#found + 1] = set
  end
end
return found
