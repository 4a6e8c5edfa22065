-- Carries one decision of a floorperson: validate, reject or pay a claim, with its ledger entry.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the claim  9 slips  10 the claim's table
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 claim id
--       4 act: validate, reject or pay   5 who   6 table id   7 round id   8 meter id
--       9 '1' for a percentage of the meter   10 '1' where it is hand paid
--       11 the decision as text, for the ledger
--       12 cents of Envy Bonuses that go with it: found not to be due by a rejection, or paid
--       13 the number of the payout slip, empty where none is written
--       14 the meter's limit in micros, 0 for none
--       15 who set the actor's PIN lately, and with whom they do not count as two people
--       16 what is owed for Envy under the claim, msgpack: { meter, cents } each
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_claim' }
--   { 'wrong_state', state, who }     decided before: by whom
--   { 'same_person', who, setter }    who validated it may not pay it, nor whose PIN one set who may
--                                     have been the validator (duty D4)
--   { 'slip_used', claim }            the slip's number stands for another payment
--   { 'envy_decided' }                its Envy Bonuses were paid, or found not to be due, before
--   { 'books_differ' }                an account of the claim does not hold its amount
--   { 'books_full' }                  an account cannot hold what would move there
--   { 'done', state, amount in cents, meter cents after, entry }

local CLAIM, SLIPS, TABLE = KEYS[8], KEYS[9], KEYS[10]

--include books
--include envy
--include retold
--include present
--include two_people

if (meters['terms'] or '') ~= ARGV[2] then return { 'terms' } end
local claim = read_hash(CLAIM)
if not claim['state'] then return { 'unknown_claim' } end

local id, act, by, meter = ARGV[3], ARGV[4], ARGV[5], ARGV[8]
local percent, hand_pay = ARGV[9] == '1', ARGV[10] == '1'
local needed = act == 'pay' and 'validated' or 'pending'
if claim['state'] ~= needed or (act == 'pay' and not hand_pay) then
  return { 'wrong_state', claim['state'], claim['by'] or '' }
end

if act == 'pay' then
  local who, setter = one_person(claim['validate_by'], claim['decision'] or '{}', by, ARGV[15])
  if who then return { 'same_person', who, setter } end
end
local slip = ARGV[13]
local used = slip ~= '' and redis.call('HGET', SLIPS, slip)
if used then return { 'slip_used', used } end

local envy, envy_cents, owed = claim['envy'], tonumber(ARGV[12]), cmsgpack.unpack(ARGV[16])
local envy_micros = envy_cents * MICROS_PER_CENT
if act == 'pay' and envy_cents > 0 and envy ~= 'validated' then return { 'envy_decided' } end

local transfers, account = {}, 'claim:' .. id
local held, cycle = balance(account), cycle_of(meter)
local envy_differs = envy and envy_cents > 0 and not holds_envy(id, owed, envy_micros)
if held ~= tonumber(claim['amount']) * MICROS_PER_CENT or envy_differs then return { 'books_differ' } end
local back = act == 'reject' and (percent and 'meter:' .. meter or 'house') or 'paid'
if not transfer_fits(account, back, held + envy_micros)
  or not transfer_fits(account, 'overflow:' .. meter, held)
  or not leaves('paid', envy_micros) or not transfer_fits('paid', 'house', envy_micros) then
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
  if envy then
    if envy_cents > 0 then move_envy(transfers, id, owed, 'house', 'envy_taken_back_cents:') end
  else -- what was won before Envy Bonuses were held has them paid already
    transfer(transfers, 'paid', 'house', envy_micros, cycle)
    tally('envy_taken_back_cents:' .. meter, envy_cents)
  end
  tally('rejected:' .. meter, 1)
  tally('rejected_cents:' .. meter, tonumber(claim['amount']))
elseif act == 'pay' or not hand_pay then
  if act == 'pay' then state = 'paid' end
  transfer(transfers, account, back, held, cycle)
  tally((hand_pay and 'hand_paid_cents:' or 'table_paid_cents:') .. meter, tonumber(claim['amount']))
  if envy_cents > 0 then move_envy(transfers, id, owed, 'paid', 'table_paid_cents:') end
else
  final = false
end
if envy == 'pending' then
  envy = act == 'reject' and envy_cents > 0 and 'rejected' or 'validated'
elseif act == 'pay' and envy_cents > 0 then
  envy = 'paid'
end
if percent and act ~= 'pay' then
  set_meter('pending:' .. meter, count_of(meters, 'pending:' .. meter) - 1)
  touch_meter(meter)
end
-- A win that is decided for good no longer holds its table; the others do as before.
local holding = {}
local held_before = final and redis.call('HGET', TABLE, 'held') or ''
for named in string.gmatch(held_before, '[^\n]+') do
  if not string.find(named, '{"claim":"' .. id .. '",', 1, true) then holding[#holding + 1] = named end
end
local retold = redis.call('HGET', TABLE, 'claims') or ''
touch_desk()
local entry = note_entry(act, by, ARGV[6], ARGV[7], 0, transfers, ARGV[11], '')

write_books()
redis.call('HSET', CLAIM, 'state', state, 'by', by, act .. '_by', by, act .. '_at', AT, 'decision', ARGV[11])
if envy and envy ~= claim['envy'] then decide_envy(CLAIM, envy, by) end
if slip ~= '' then redis.call('HSET', SLIPS, slip, id) end
if final and envy ~= 'validated' then redis.call('ZREM', WAITING, id) end
redis.call('HSET', TABLE, 'claims', retold_with(retold, { id }))
if held_before ~= '' then
  if #holding == 0 then
    redis.call('HDEL', TABLE, 'held')
  else
    redis.call('HSET', TABLE, 'held', table.concat(holding, '\n'))
  end
end
return { 'done', state, claim['amount'], exact(math.floor(balance('meter:' .. meter) / MICROS_PER_CENT)), exact(entry) }
