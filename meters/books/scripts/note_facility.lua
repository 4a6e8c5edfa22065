-- Notes that a link's part of the floor file is approved, and gives the approval its order.
--
-- KEYS  1 the note
-- ARGV  1 the digest of the floor file, a blank, and the person: noted as the first floor file if
--         none is noted yet
--       2 the field of the link   3 the largest order in the ledgers
-- Output: { the first floor file that is noted now, as in ARGV 1, a new order }
--
-- An order is also the time in milliseconds, if that is larger than the last one: so after the loss
-- of the note, it is larger than those in ledgers that nobody could read.

local NOTE, FIRST, LINK, LAST = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])

local first = redis.call('HGET', NOTE, 'first') or FIRST
local last = math.max(LAST, tonumber(redis.call('HGET', NOTE, 'order')) or 0)
local time = redis.call('TIME')
local order = math.max(last + 1, time[1] * 1000 + math.floor(time[2] / 1000))
order = string.format('%.0f', order)
redis.call('HSET', NOTE, 'first', first, LINK, '', 'order', order)
return { first, order }
