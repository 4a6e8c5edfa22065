-- Finds a session that is still valid, and keeps it alive if its user does something.
-- KEYS: the session, the PINs that were set.
-- ARGV: the prefix of users' keys, the longest idle time and the least time between two touches, in
--       ms; '1' to keep it alive; '1' if the user acts.
-- Returns the user's name, role and csrf token, '1' if they must choose a PIN first, the session's
-- generation and seal, and, if the user acts, whose PINs were set by whom in the last 24 hours; or
-- nothing.

local SESSION, PINS_SET = KEYS[1], KEYS[2]
local USER_PREFIX, IDLE_MS, TOUCH_MS, KEEP_ALIVE, ACTS = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--include note
--include session

local session = session_of(SESSION, USER_PREFIX)
if not session then
  redis.call('DEL', SESSION)
  return false
end
local now = now_ms()
if KEEP_ALIVE == '1' and now - session.touched >= tonumber(TOUCH_MS) then
  redis.call('HSET', SESSION, 'touched', now)
  redis.call('PEXPIRE', SESSION, math.min(session.left_ms, tonumber(IDLE_MS)))
end
local found = {
  session.name, session.role, session.csrf, session.must_choose and '1' or '', session.generation,
  session.seal,
}
if ACTS == '1' then
  local since = string.format('%.0f', now - PIN_SET_MS)
  for _, set in ipairs(redis.call('ZREVRANGEBYSCORE', PINS_SET, '+inf', since)) do
    found[#found + 1] = set
  end
end
return found
