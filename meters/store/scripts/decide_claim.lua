-- Applies a floorperson's decision on a claim (validate, reject or pay), with a ledger entry.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the claim  9 slips  10 tables  11 repeated claims  12 approved
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 claim id
--       4 act: validate, reject or pay   5 the actor   6 table id   7 round id   8 meter id
--       9 '1' for a percentage of the meter   10 '1' for a hand pay
--       11 the decision as text, for the ledger
--       12 the cents of Envy Bonuses that are rejected, or paid, together with the win; else 0
--       13 the number of the payout slip, empty if there is none
--       14 the meter's limit in micros, 0 for no limit
--       15 as JSON: who set the actor's PIN, and who must not be the other person of the act
--       16 the Envy Bonuses that are owed under the claim, msgpack: { meter, cents } each
--       17 for a rejection that two people decide: the entry of the request that the actor confirms;
--          empty if the actor decides alone
--       18 the digest of the floor file's settings; empty for no check
--       19 '1' for a must-hit-by meter: a rejected win waits in the reserve for the next cycles,
--       because more on the meter could take it to its hidden value
--       20 the meter that gets what is above the limit, empty for the meter's own overflow
--       21 the limit of that meter in micros, 0 for no limit
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_claim' }
--   { 'wrong_state', state, person }  the claim has another state, set by that person
--   { 'not_approved' }                the actor rejects the win alone, and another floor file is
--                                     approved: it can require two people
--   { 'no_request' }                  the claim has another request or none, or the gaming day of
--                                     the request is closed
--   { 'same_person', first, setter }  the payer is the validator, or the confirmer made the request,
--                                     or both can be the same person because of PINs that `setter`
--                                     set (duty D4)
--   { 'slip_used', claim }            the slip's number paid another claim, or a restore
--                                     keeps the number for another claim
--   { 'envy_decided' }                the claim's Envy Bonuses are already paid or rejected
--   { 'books_differ' }                the balance of an account of the claim is wrong
--   { 'books_full' }                  the number in an account would be too large
--   { 'done', state, amount in cents, meter cents after, entry }

local CLAIM, SLIPS, TABLES = KEYS[8], KEYS[9], KEYS[10]
local REPEATED_CLAIMS, APPROVED = KEYS[11], KEYS[12]
local ID, ACT, BY, TABLE_ID = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ROUND, METER, PERCENT, HAND_PAY, DECISION = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local ENVY_CENTS, SLIP, LIMIT_MICROS, SETTERS, OWED = ARGV[12], ARGV[13], ARGV[14], ARGV[15], ARGV[16]
local REQUEST, FLOOR_DIGEST, MUST_HIT_BY = ARGV[17], ARGV[18], ARGV[19]
local OVERFLOW_TO, LIMIT_THERE_MICROS = ARGV[20], ARGV[21]

--include books
--include envy
--include repeated_claims
--include tables
--include two_people
--include requests
--include used_slips
--include claim

local percent, hand_pay = PERCENT == '1', HAND_PAY == '1'
local needed = ACT == 'pay' and 'validated' or 'pending'
if claim['state'] ~= needed or (ACT == 'pay' and not hand_pay) then
  return { 'wrong_state', claim['state'], claim['by'] or '' }
end

if ACT == 'reject' and REQUEST == '' and FLOOR_DIGEST ~= '' then
  local approved = redis.call('HGET', APPROVED, 'digest')
  if approved and approved ~= FLOOR_DIGEST then return { 'not_approved' } end
end
local who, setter
if REQUEST ~= '' then
  if not has_request(claim, REQUEST) then return { 'no_request' } end
  who, setter = one_person(claim['request_by'], claim['request'], BY, SETTERS)
elseif ACT == 'pay' then
  who, setter = one_person(claim['validate_by'], claim['decision'] or '{}', BY, SETTERS)
end
if who then return { 'same_person', who, setter } end
local used = SLIP ~= '' and used_by_other(claim, ID, SLIP)
if used then return { 'slip_used', used } end

local envy, envy_cents, owed = claim['envy'], tonumber(ENVY_CENTS), cmsgpack.unpack(OWED)
local envy_micros = envy_cents * MICROS_PER_CENT
local envy_needed = ACT == 'pay' and 'validated' or 'pending'
if envy_cents > 0 and envy ~= envy_needed then return { 'envy_decided' } end

local transfers, account = {}, 'claim:' .. ID
local held, cycle = balance(account), cycle_of(METER)
local envy_differs = envy_cents > 0 and not holds_envy(ID, owed, envy_micros)
if held ~= tonumber(claim['amount']) * MICROS_PER_CENT or envy_differs then return { 'books_differ' } end
local back = ACT == 'reject' and (percent and 'meter:' .. METER or 'house') or 'paid'
if not transfer_fits(account, back, held + envy_micros)
  or not transfer_fits(account, 'overflow:' .. METER, held)
  or not transfer_fits(account, 'reserve:' .. METER, held)
  or (OVERFLOW_TO ~= '' and not transfer_fits(account, 'meter:' .. OVERFLOW_TO, held))
  or (OVERFLOW_TO ~= '' and not transfer_fits(account, 'overflow:' .. OVERFLOW_TO, held))
  or not can_receive('house', envy_micros) then
  return { 'books_full' }
end

local state, final, returned = 'validated', true, ''
if ACT == 'reject' then
  state = 'rejected'
  local over = 0
  -- If the win was reopened, the house can have paid a part of the amount.
  local to_house = percent and tonumber(claim['of_house'] or '0') or held
  transfer(transfers, account, 'house', to_house, cycle)
  if percent and MUST_HIT_BY == '1' then
    over = held - to_house
    transfer(transfers, account, 'reserve:' .. METER, over, cycle)
  elseif percent then
    over = fill_meter(transfers, account, METER, held - to_house, cycle, tonumber(LIMIT_MICROS), OVERFLOW_TO,
      tonumber(LIMIT_THERE_MICROS))
  end
  returned = format('%d %d %d', held - to_house - over, over, cycle)
  if over > 0 and OVERFLOW_TO ~= '' then returned = format('%s %s %d', returned, OVERFLOW_TO, cycle_of(OVERFLOW_TO)) end
  if envy_cents > 0 then move_envy(transfers, ID, owed, 'house', 'envy_taken_back_cents:') end
  tally('rejected:' .. METER, 1)
  tally('rejected_cents:' .. METER, tonumber(claim['amount']))
elseif ACT == 'pay' or not hand_pay then
  if ACT == 'pay' then state = 'paid' end
  transfer(transfers, account, back, held, cycle)
  tally((hand_pay and 'hand_paid_cents:' or 'table_paid_cents:') .. METER, tonumber(claim['amount']))
  if envy_cents > 0 then move_envy(transfers, ID, owed, 'paid', 'table_paid_cents:') end
else
  final = false
end
if envy == 'pending' then
  envy = ACT == 'reject' and envy_cents > 0 and 'rejected' or 'validated'
elseif ACT == 'pay' and envy_cents > 0 then
  envy = 'paid'
end
if percent and ACT ~= 'pay' then
  set_meter('pending:' .. METER, count_of(meters, 'pending:' .. METER) - 1)
  touch_meter(METER)
end
-- When a win is finally decided, it no longer holds its table. Other wins can still hold the table.
local holding = {}
local held_before = final and table_at(TABLE_ID)[TABLE_HELD] or ''
for named in string.gmatch(held_before, '[^\n]+') do
  if not string.find(named, '{"claim":"' .. ID .. '",', 1, true) then holding[#holding + 1] = named end
end
if held_before ~= '' then set_table(TABLE_ID, TABLE_HELD, table.concat(holding, '\n')) end
touch_floor()
local entry = note_entry(ACT, BY, TABLE_ID, ROUND, 0, transfers, DECISION, '')

write_books()
redis.call('HSET', CLAIM, 'state', state, 'by', BY, ACT .. '_by', BY, ACT .. '_at', AT, 'decision', DECISION)
if ACT == 'reject' then redis.call('HSET', CLAIM, 'returned', exact(entry) .. ' ' .. returned) end
drop_request(CLAIM)
redis.call('HDEL', CLAIM, 'of_house')
if envy and envy ~= claim['envy'] then decide_envy(CLAIM, envy, BY) end
if SLIP ~= '' then redis.call('HSET', SLIPS, SLIP, ID) end
if final and envy ~= 'validated' then redis.call('ZREM', WAITING, ID) end
repeat_claims({ [TABLE_ID] = { ID } })
write_tables()
return { 'done', state, claim['amount'], exact(math.floor(balance('meter:' .. METER) / MICROS_PER_CENT)), exact(entry) }
