-- Adds to a meter what a promotion adds, with a ledger entry. The house pays it.
--
-- A sum is added once for each start, whichever service calls first; a start on the day of the last
-- one, or before it, counts as done. If the promotion adds a part of each wager, the first call for
-- a start notes how much was wagered on the meter before, and later calls add the part of what was
-- wagered since: one every few minutes, and one after the end. The count begins again if the meter
-- or the approval of the floor file is another one, or if the last call came at a later time: a
-- clock was set back. The ledger says how much was wagered, so the audit calculates it again.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 approved
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 the actor
--       4 the digest of the link's settings in the service's floor file
--       5 promotion id   6 the day of the start, such as 2026-12-04
--       7 the time of the start   8 the time of the end, both as ARGV 1
--       9 meter id   10 the cents to add   11 the meter's limit in micros, 0 for no limit
--       12 the act as text, for the ledger, without the amounts and the brace at its end
--       13 the time of ARGV 1, in seconds since 1970
--       14 the meter that gets what is above the limit, empty for the meter's own overflow
--       15 the limit of that meter in micros, 0 for no limit
--       16 the part of each wager to add, in basis points; 0 for a sum
--       17 the time until which a last part of the wagers is added; for a sum, that of ARGV 8
--       18 the time after which   19 the time until which the last call came just now
-- Output, in order of precedence
--   { 'terms' }          the link's terms are not those of ARGV 2
--   { 'known', day }     the promotion was added for this day or a later one, or nothing is due now
--                        of the wagers
--   { 'closed' }         people have closed the link
--   { 'not_approved' }   another floor file is approved
--   { 'not_on' }         the promotion has not started yet, or has ended
--   { 'clock', seconds } the caller's clock differs from the clock of Redis by this many seconds
--   { 'meter_full' }     the number in an account would be too large
--   { 'done', entry }

local BY, FLOOR_DIGEST, PROMOTION, DAY, STARTS, ENDS = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local METER, CENTS, LIMIT_MICROS, RECORD, NOW_SECONDS = ARGV[9], ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local OVERFLOW_TO, LIMIT_THERE_MICROS, APPROVED = ARGV[14], ARGV[15], KEYS[8]
local RAISES_BPS, ENDS_LATE, JUST_FROM, JUST_TO = tonumber(ARGV[16]), ARGV[17], ARGV[18], ARGV[19]
local BPS_OF_ALL = 10000

--include books
--include terms
--include clock

-- The cents of all wagers on the meter that were not taken back.
local function wagered_cents()
  local wagered, voided = unpack(redis.call('HMGET', TALLIES, 'wagered_cents:' .. METER, 'voided_cents:' .. METER))
  return tonumber(wagered or '0') - tonumber(voided or '0')
end

-- Returns the whole part of a product of cents and a rate. It is exact: whole and rest of the cents
-- stay far below 2^53.
local function part_of(cents)
  local rest = cents % BPS_OF_ALL
  local of_rest = rest * RAISES_BPS
  return (cents - rest) / BPS_OF_ALL * RAISES_BPS + (of_rest - of_rest % BPS_OF_ALL) / BPS_OF_ALL
end

-- All times are texts of the same length and zone, so they are in the order of time.
local field, over, goes_on = 'promotion:' .. PROMOTION, AT >= ENDS, false
local last = meters[field] or ''
local last_day, last_meter, from, added, last_at, last_approval = string.match(last, '^(%S+) (%S+) (%d+) (%d+) (%S+) (%S*)$')
local approval = redis.call('HGET', APPROVED, 'entry') or ''
local cents, state, amounts = tonumber(CENTS), DAY, nil
local is_known = DAY <= (last_day or last)
if RAISES_BPS > 0 then
  local now = wagered_cents()
  local before, added_before, count = now, 0, 'begins'
  goes_on = DAY == last_day and METER == last_meter and approval == last_approval and last_at <= JUST_TO
  cents = 0
  if goes_on then
    before, added_before, count = tonumber(from), tonumber(added), over and 'ends' or 'goes_on'
    cents = math.max(0, part_of(now - before) - added_before)
    is_known = last_at >= ENDS or not over and (last_at > JUST_FROM or cents < 1)
  else
    -- On the day of the last start, the count of the wagers can begin again.
    is_known = is_known and (over or DAY ~= last_day)
  end
  state = format('%s %s %d %d %s %s', DAY, METER, before, added_before + cents, AT, approval)
  amounts = format(
    ',"amount":%d,"count":"%s","wagered_before":%d,"wagered":%d,"added":%d}',
    cents, count, before, now - before, added_before + cents
  )
end
if is_known then return { 'known', last_day or last } end
if meters['closed'] then return { 'closed' } end
if redis.call('HGET', APPROVED, 'digest') ~= FLOOR_DIGEST then return { 'not_approved' } end
if AT < STARTS or AT >= (goes_on and ENDS_LATE or ENDS) then return { 'not_on' } end
local off = clock_off(NOW_SECONDS)
if off then return { 'clock', exact(off) } end
local micros = cents * MICROS_PER_CENT
local fits = transfer_fits('house', 'meter:' .. METER, micros) and can_receive('overflow:' .. METER, micros)
if OVERFLOW_TO ~= '' then
  fits = fits and can_receive('meter:' .. OVERFLOW_TO, micros) and can_receive('overflow:' .. OVERFLOW_TO, micros)
end
if not fits then return { 'meter_full' } end

local transfers = {}
fill_meter(transfers, 'house', METER, micros, cycle_of(METER), tonumber(LIMIT_MICROS), OVERFLOW_TO, tonumber(LIMIT_THERE_MICROS))
tally('promotion_cents:' .. METER, cents)
touch_meter(METER)
touch_floor()
amounts = amounts or format(',"amount":%d}', cents)
local entry = note_entry('promotion', BY, '', '', 0, transfers, RECORD .. amounts, '')
write_books()
redis.call('HSET', METERS, field, state)
return { 'done', exact(entry) }
