-- Finds a session that is still valid. If the session's user does something, records this as the
-- last use. A session whose last use was too long ago has lapsed: the user can watch, but must enter
-- their PIN before they change something. A lapsed session stays lapsed.
-- KEYS: the session, the list of recently set PINs.
-- ARGV: the prefix of the users' keys, the longest idle time in ms, the shortest time in ms between
--       two records of the last use; '1' if the user does something; '1' if the caller must know who
--       set PINs.
-- Returns nothing if the session is not valid. If it is valid, returns the user's name, role and
-- CSRF token, '1' if the user must choose a PIN first, the session's generation and seal, and '1'
-- if the session has lapsed. With the last argument, also returns whose PINs were set by whom in the
-- last 24 hours, each followed by its time in ms.

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
local idle_ms = now - session.touched
local lapsed = idle_ms >= tonumber(IDLE_MS)
if KEEP_ALIVE == '1' and not lapsed and idle_ms >= tonumber(TOUCH_MS) then
  redis.call('HSET', SESSION, 'touched', now)
end
local found = {
  session.name, session.role, session.csrf, session.must_choose and '1' or '', session.generation,
  session.seal, lapsed and '1' or '',
}
if ACTS == '1' then
  local since = string.format('%.0f', now - PIN_SET_MS)
  for _, set in ipairs(redis.call('ZREVRANGEBYSCORE', PINS_SET, '+inf', since, 'WITHSCORES')) do
    found[#found + 1] = set
  end
end
return found
