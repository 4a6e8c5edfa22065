-- Adds to a meter what a promotion adds at a start, with a ledger entry. The house pays it. Each
-- start counts once, whichever service calls first; a start on the day of the last one, or before
-- it, counts as done.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 approved
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 the actor
--       4 the digest of the link's settings in the service's floor file
--       5 promotion id   6 the day of the start, such as 2026-12-04
--       7 the time of the start   8 the time of the end, both as ARGV 1
--       9 meter id   10 the cents to add   11 the meter's limit in micros, 0 for no limit
--       12 the act as text, for the ledger
--       13 the time of ARGV 1, in seconds since 1970
--       14 the meter that gets what is above the limit, empty for the meter's own overflow
--       15 the limit of that meter in micros, 0 for no limit
-- Output, in order of precedence
--   { 'terms' }          the link's terms are not those of ARGV 2
--   { 'known', day }     the promotion was added for this day or a later one
--   { 'closed' }         people have closed the link
--   { 'not_approved' }   another floor file is approved
--   { 'not_on' }         the promotion has not started yet, or has ended
--   { 'clock', seconds } the caller's clock differs from the clock of Redis by this many seconds
--   { 'meter_full' }     the number in an account would be too large
--   { 'done', entry }

local BY, FLOOR_DIGEST, PROMOTION, DAY, STARTS, ENDS = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local METER, CENTS, LIMIT_MICROS, RECORD, NOW_SECONDS = ARGV[9], ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local OVERFLOW_TO, LIMIT_THERE_MICROS, APPROVED = ARGV[14], ARGV[15], KEYS[8]

--include books
--include terms
--include clock

local field = 'promotion:' .. PROMOTION
local last = meters[field] or ''
if DAY <= last then return { 'known', last } end
if meters['closed'] then return { 'closed' } end
if redis.call('HGET', APPROVED, 'digest') ~= FLOOR_DIGEST then return { 'not_approved' } end
-- All these texts have the same length and zone, so they are in the order of time.
if AT < STARTS or AT >= ENDS then return { 'not_on' } end
local off = clock_off(NOW_SECONDS)
if off then return { 'clock', exact(off) } end
local micros = tonumber(CENTS) * MICROS_PER_CENT
local fits = transfer_fits('house', 'meter:' .. METER, micros) and can_receive('overflow:' .. METER, micros)
if OVERFLOW_TO ~= '' then
  fits = fits and can_receive('meter:' .. OVERFLOW_TO, micros) and can_receive('overflow:' .. OVERFLOW_TO, micros)
end
if not fits then return { 'meter_full' } end

local transfers = {}
fill_meter(transfers, 'house', METER, micros, cycle_of(METER), tonumber(LIMIT_MICROS), OVERFLOW_TO, tonumber(LIMIT_THERE_MICROS))
tally('promotion_cents:' .. METER, tonumber(CENTS))
touch_meter(METER)
touch_floor()
local entry = note_entry('promotion', BY, '', '', 0, transfers, RECORD, '')
write_books()
redis.call('HSET', METERS, field, DAY)
return { 'done', exact(entry) }
