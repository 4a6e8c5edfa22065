-- Reserves the number of a payout slip for one claim of the facility (`slip_register.py`).
--
-- KEYS  1 the reservations
-- ARGV  1 the folded number   2 claim id
--       3 the text of an old reservation that can be replaced, empty for none
-- Output, in order of precedence
--   { 'taken', text }   the number is reserved for another claim; nothing was done
--   { 'reserved' }

local RESERVED = KEYS[1]
local NUMBER, CLAIM, UNUSABLE = ARGV[1], ARGV[2], ARGV[3]

local held = redis.call('HGET', RESERVED, NUMBER)
local tries = 0
if held then
  local counted, claim = string.match(held, '^(%d+) (.+)$')
  if claim == CLAIM then
    tries = tonumber(counted)
  elseif held ~= UNUSABLE then
    return { 'taken', held }
  end
end
redis.call('HSET', RESERVED, NUMBER, string.format('%d', tries + 1) .. ' ' .. CLAIM)
return { 'reserved' }
