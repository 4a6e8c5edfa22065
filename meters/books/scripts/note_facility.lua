-- Notes an approval of a link's part of the floor file in the note of the facility.
--
-- KEYS  1 the note
-- ARGV  1 the digest of the floor file, a blank, and the person: noted as the first floor file if
--         none is noted yet
--       2 the link   3 `new` to take a new order, or `place`
--       4 the order of the link's approval; of a new one, the largest order in the ledgers
--       5 … the fields of the link's tables, which the approval places on the link
-- Output: { the first floor file that is noted now, as in ARGV 1, the order }
--
-- A new order is also the time in milliseconds, if that is larger: the orders after the loss of the
-- note are larger than those before. Since a clock can be wrong, they are also larger than those in
-- the ledgers.

local NOTE, FIRST, LINK, MODE, ORDER = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local function exact(number) return string.format('%.0f', number) end

local first = redis.call('HGET', NOTE, 'first') or FIRST
local last = tonumber(redis.call('HGET', NOTE, 'order') or '0')
local order = ORDER
if MODE == 'new' then
  local time = redis.call('TIME')
  order = math.max(last + 1, ORDER + 1, time[1] * 1000 + math.floor(time[2] / 1000))
end
redis.call('HSET', NOTE, 'first', first, 'link:' .. LINK, '', 'order', exact(math.max(last, order)))
for index = 5, #ARGV do
  local placed = redis.call('HGET', NOTE, ARGV[index]) or ''
  if order > tonumber(placed:match('^%d+') or '0') then
    redis.call('HSET', NOTE, ARGV[index], exact(order) .. ' ' .. LINK)
  end
end
return { first, exact(order) }
