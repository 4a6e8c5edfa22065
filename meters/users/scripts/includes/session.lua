-- Checks if a session is still valid. The user of a valid session is enabled, and still has the PIN
-- with which the session began. The session is not too old. The Redis key of the user is built
-- here, because only the session has the user's name. This key has the same hash tag as the key of
-- the session. `session_of` returns the data of the session and of its user, or nothing if the
-- session is not valid.

-- Checks if a PIN that another person set has expired. With such a PIN, a user can only choose a
-- PIN of their own, and only until the time in the user's hash.
local function too_late(choose_by)
  return not choose_by or now_ms() >= tonumber(choose_by)
end

local LONGEST_MS = 12 * 3600 * 1000 -- the limit for every session, even with an active user

-- Checks if a user is in the list of users, which the audit compares with the log. So if an
-- attacker adds a user's hash, but not the name in the list, nobody can sign in as this user. The
-- key of the list is the prefix of the users' keys, with an `s` instead of its last character.
local function is_listed(user_prefix, folded)
  return redis.call('ZSCORE', string.sub(user_prefix, 1, -2) .. 's', folded)
end

local function session_of(key, user_prefix)
  local folded, generation, csrf, created, touched, seal = unpack(
    redis.call('HMGET', key, 'user', 'generation', 'csrf', 'created', 'touched', 'seal'))
  if not folded then
    return nil
  end
  local name, role, enabled, user_generation, pin_by, choose_by = unpack(redis.call('HMGET',
    user_prefix .. folded, 'name', 'role', 'enabled', 'generation', 'pin_by', 'choose_by'))
  if not is_listed(user_prefix, folded) then
    return nil
  end
  local now = now_ms()
  -- If the last use of the session is later than now, the clock was set back. In this case, it is
  -- not known for how long the user was idle.
  local set_back = tonumber(touched) > now + 60000
  local too_old = now >= tonumber(created) + LONGEST_MS
  local given = pin_by ~= name
  if enabled ~= '1' or user_generation ~= generation or too_old or set_back
    or (given and too_late(choose_by)) then
    return nil
  end
  return {
    name = name, role = role, csrf = csrf, touched = tonumber(touched),
    must_choose = given, generation = generation, seal = seal or '',
  }
end

-- Checks if an administrator is still allowed to do what they requested. After the service checked
-- the administrator's session, the session can have ended, or the administrator can have been
-- disabled. A `pitlink` command has no session.
local function may_keep_users(key, user_prefix)
  if key == '' then
    return true
  end
  local session = session_of(key, user_prefix)
  return session ~= nil and session.role == 'administrator' and not session.must_choose
end

-- The time in ms for which Redis stores who set a PIN (duty D4).
local PIN_SET_MS = 24 * 3600 * 1000

-- Records that a person set another user's PIN.
local function keep_setter(pins_set, whose, setter)
  local now = now_ms()
  redis.call('ZREMRANGEBYSCORE', pins_set, '-inf', '(' .. string.format('%.0f', now - PIN_SET_MS))
  redis.call('ZADD', pins_set, now, whose .. '\n' .. setter)
end

-- Records who set, and so knows, a user's PIN. A PIN that another person set is valid for 24 hours.
-- With it, the user can only choose a PIN of their own.
local function set_by(user, setter, name)
  redis.call('HSET', user, 'pin_by', setter)
  if setter == name then
    redis.call('HDEL', user, 'choose_by')
  else
    redis.call('HSET', user, 'choose_by', string.format('%.0f', now_ms() + PIN_SET_MS))
  end
end
