-- Takes back one try to pay a claim with a payout slip; the last one frees its number (`slips.py`).
--
-- KEYS  1 the reservations
-- ARGV  1 the number as it is compared   2 claim id
-- Output
--   { 'done' }   a number that is reserved for another claim is left

local RESERVED = KEYS[1]

local held = redis.call('HGET', RESERVED, ARGV[1])
local counted, claim = string.match(held or '', '^(%d+) (.+)$')
if claim == ARGV[2] then
  local tries = tonumber(counted) - 1
  if tries > 0 then
    redis.call('HSET', RESERVED, ARGV[1], string.format('%.0f', tries) .. ' ' .. claim)
  else
    redis.call('HDEL', RESERVED, ARGV[1])
  end
end
return { 'done' }
