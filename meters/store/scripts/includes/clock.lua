-- Compares the caller's clock with the clock of Redis: a service with a wrong clock must not do what
-- depends on the time of day.

local OFF_AT_MOST = 300

-- Returns by how many seconds the clocks differ if they differ too much; otherwise nil.
local function clock_off(now_seconds)
  local off = tonumber(now_seconds) - tonumber(redis.call('TIME')[1])
  if math.abs(off) > OFF_AT_MOST then return off end
  return nil
end
