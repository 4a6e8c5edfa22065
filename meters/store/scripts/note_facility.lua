-- Notes that a link's part of the floor file is approved, and gives the approval its order.
--
-- KEYS  1 the note
-- ARGV  1 the digest of the floor file, a blank, and the person: noted as the first floor file if
--         none is noted yet
--       2 the field of the link   3 the smallest number that the order can have
-- An order of ORDER_END or more is not from this script: somebody wrote it. Such an order is
-- ignored: numbers above 2^53 are not exact, so all later approvals would have the same order.
-- Output: { the first floor file that is noted now, as in ARGV 1, a new order }

local ORDER_END = 2 ^ 52
local NOTE, FIRST, LINK, LEAST = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])

local first = redis.call('HGET', NOTE, 'first') or FIRST
local last = tonumber(redis.call('HGET', NOTE, 'order') or '')
if not (last and last < ORDER_END) then last = 0 end
local order = string.format('%.0f', math.max(LEAST, last + 1))
redis.call('HSET', NOTE, 'first', first, LINK, '', 'order', order)
return { first, order }
