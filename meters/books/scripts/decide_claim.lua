-- Carries one decision of a floorperson: validate, reject or pay a claim, with its ledger entry.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the claim  9 slips
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 claim id
--       4 act: validate, reject or pay   5 who   6 table id   7 round id   8 meter id
--       9 '1' for a percentage of the meter   10 '1' where it is hand paid
--       11 the decision as text, for the ledger
--       12 cents of Envy Bonuses that a rejection takes back from patrons, who are not due them
--       13 the number of the payout slip, empty where none is written
--       14 the meter's limit in micros, 0 for none
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_claim' }
--   { 'wrong_state', state, who }     decided before: by whom
--   { 'same_person' }                 who validated it may not pay it (duty D4)
--   { 'slip_used', claim }            the slip's number stands for another payment
--   { 'books_differ' }                the claim's account does not hold its amount
--   { 'books_full' }                  an account cannot hold what would move there
--   { 'done', state, amount in cents, meter cents after, entry }

local CLAIM, SLIPS = KEYS[8], KEYS[9]

--include books
--include present

if (meters['terms'] or '') ~= ARGV[2] then return { 'terms' } end
local claim = read_hash(CLAIM)
if not claim['state'] then return { 'unknown_claim' } end

local id, act, by, meter = ARGV[3], ARGV[4], ARGV[5], ARGV[8]
local percent, hand_pay = ARGV[9] == '1', ARGV[10] == '1'
local needed = act == 'pay' and 'validated' or 'pending'
if claim['state'] ~= needed or (act == 'pay' and not hand_pay) then
  return { 'wrong_state', claim['state'], claim['by'] or '' }
end

if act == 'pay' and claim['validate_by'] == by then return { 'same_person' } end
local slip = ARGV[13]
local used = slip ~= '' and redis.call('HGET', SLIPS, slip)
if used then return { 'slip_used', used } end

local transfers, account = {}, 'claim:' .. id
local held, cycle = balance(account), cycle_of(meter)
if held ~= tonumber(claim['amount']) * MICROS_PER_CENT then return { 'books_differ' } end
local back = act == 'reject' and (percent and 'meter:' .. meter or 'house') or 'paid'
local envy = tonumber(ARGV[12]) * MICROS_PER_CENT
if not transfer_fits(account, back, held + envy) or not transfer_fits(account, 'overflow:' .. meter, held)
  or not leaves('paid', envy) then
  return { 'books_full' }
end

local state, final = 'validated', true
if act == 'reject' then
  state = 'rejected'
  if percent then
    fill_meter(transfers, account, meter, held, cycle, tonumber(ARGV[14]))
  else
    transfer(transfers, account, 'house', held, cycle)
  end
  transfer(transfers, 'paid', 'house', envy, cycle)
  tally('rejected:' .. meter, 1)
  tally('envy_taken_back_cents:' .. meter, tonumber(ARGV[12]))
  tally('rejected_cents:' .. meter, tonumber(claim['amount']))
elseif act == 'pay' or not hand_pay then
  if act == 'pay' then state = 'paid' end
  transfer(transfers, account, back, held, cycle)
  tally((hand_pay and 'hand_paid_cents:' or 'table_paid_cents:') .. meter, tonumber(claim['amount']))
else
  final = false
end
if percent and act ~= 'pay' then
  set_meter('pending:' .. meter, count_of(meters, 'pending:' .. meter) - 1)
  touch_meter(meter)
end
touch_desk()
local entry = note_entry(act, by, ARGV[6], ARGV[7], 0, transfers, ARGV[11], '')

write_books()
redis.call('HSET', CLAIM, 'state', state, 'by', by, act .. '_by', by, act .. '_at', AT, 'decision', ARGV[11])
if slip ~= '' then redis.call('HSET', SLIPS, slip, id) end
if final then redis.call('ZREM', WAITING, id) end
return { 'done', state, claim['amount'], exact(math.floor(balance('meter:' .. meter) / MICROS_PER_CENT)), exact(entry) }
