-- Subtracts one try to pay a claim from the reservation of a payout slip's number. If no try is
-- left, the reservation is removed, and another claim can use the number (`slip_register.py`).
--
-- KEYS  1 the reservations
-- ARGV  1 the folded number   2 claim id
-- Output
--   { 'done' }   a number that is reserved for another claim remains reserved

local RESERVED = KEYS[1]
local NUMBER, CLAIM = ARGV[1], ARGV[2]

local held = redis.call('HGET', RESERVED, NUMBER)
local counted, claim = string.match(held or '', '^(%d+) (.+)$')
if claim == CLAIM then
  local tries = tonumber(counted) - 1
  if tries > 0 then
    redis.call('HSET', RESERVED, NUMBER, string.format('%d', tries) .. ' ' .. claim)
  else
    redis.call('HDEL', RESERVED, NUMBER)
  end
end
return { 'done' }
