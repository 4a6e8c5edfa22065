-- Notes that a link's part of the floor file is approved, and gives the approval its order.
--
-- KEYS  1 the note
-- ARGV  1 the digest of the floor file, a blank, and the person: noted as the first floor file if
--         none is noted yet
--       2 the field of the link   3 the least that the order can be
-- Output: { the first floor file that is noted now, as in ARGV 1, a new order }

local NOTE, FIRST, LINK, LEAST = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])

local first = redis.call('HGET', NOTE, 'first') or FIRST
local last = tonumber(redis.call('HGET', NOTE, 'order')) or 0
local order = string.format('%.0f', math.max(LEAST, last + 1))
redis.call('HSET', NOTE, 'first', first, LINK, '', 'order', order)
return { first, order }
