-- Reopens a rejected win, with a ledger entry. The actor confirms the request of another person (duty
-- D4). The win waits for a floorperson as it did before the rejection.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the claim  9 tables  10 repeated claims
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 claim id
--       4 the actor   5 table id   6 round id   7 meter id
--       8 '1' for a percentage of the meter   9 the act as text, for the ledger
--       10 the entry of the request that the actor confirms
--       11 as JSON: who set the actor's PIN, and who must not be the other person of the act
--       12 the Envy Bonuses that are owed under the claim, msgpack: { meter, cents } each
--       13 the meter's reseed in micros
--       14 for a hand pay: how the claim holds its table, JSON; else empty
--       15 '1' for a must-hit-by meter: the amount waits in the reserve
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_claim' }
--   { 'wrong_state', state, person }  the claim is not rejected: its state, who set it
--   { 'day_closed' }                  the gaming day of the rejection is closed
--   { 'no_request' }                  the claim has another request or none
--   { 'same_person', first, setter }  the actor made the request, or can be the same person because
--                                     of PINs that `setter` set (duty D4)
--   { 'books_full' }                  an account cannot hold the amount that would move there
--   { 'done', state, amount in cents, meter cents after, entry }

local CLAIM, TABLES, REPEATED_CLAIMS = KEYS[8], KEYS[9], KEYS[10]
local ID, BY, TABLE_ID, ROUND = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local METER, PERCENT, DECISION, REQUEST, SETTERS = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local OWED, RESEED_MICROS, HOLD, MUST_HIT_BY = ARGV[12], ARGV[13], ARGV[14], ARGV[15]

--include books
--include envy
--include repeated_claims
--include tables
--include two_people
--include requests
--include rejected
--include claim

if claim['state'] ~= 'rejected' then return { 'wrong_state', claim['state'], claim['by'] or '' } end

local rejection, to_meter, to_overflow, cycle, passed_to, passed_cycle = returned_amounts(claim)
if not rejection or not is_of_open_day(rejection) then return { 'day_closed' } end
if not has_request(claim, REQUEST) then return { 'no_request' } end
local who, setter = one_person(claim['request_by'], claim['request'], BY, SETTERS)
if who then return { 'same_person', who, setter } end

-- The amount comes back from the meter and its overflow, where the rejection moved it; a part that
-- went on to another meter comes back from there, if that was not won meanwhile. The overflow
-- comes first: while there is an overflow, the meter stays at its limit (duty D3). If the whole
-- meter was won meanwhile, the house pays. What a must-hit-by win gave to the reserve stays there
-- until later cycles begin with it. The meter keeps its reseed, or its balance after the win
-- if this is less: the house pays the rest.
local percent, owed, envy = PERCENT == '1', cmsgpack.unpack(OWED), claim['envy']
if envy ~= 'rejected' then owed = {} end
local account, meter = 'claim:' .. ID, 'meter:' .. METER
local overflow = (MUST_HIT_BY == '1' and 'reserve:' or 'overflow:') .. METER
local micros, now = tonumber(claim['amount']) * MICROS_PER_CENT, cycle_of(METER)
local off_meter, off_overflow, off_there, off_overflow_there = 0, 0, 0, 0
if passed_to then
  if passed_cycle == cycle_of(passed_to) then
    off_overflow_there = math.min(to_overflow, balance('overflow:' .. passed_to))
    off_there = math.min(to_overflow - off_overflow_there, balance('meter:' .. passed_to))
  end
  to_overflow = 0
end
if MUST_HIT_BY == '1' then
  off_overflow = math.min(to_overflow, balance(overflow))
elseif percent and cycle == now then
  local least = math.min(tonumber(RESEED_MICROS), tonumber(claim['after']) * MICROS_PER_CENT)
  off_overflow = math.min(to_meter + to_overflow, balance(overflow))
  off_meter = math.min(to_meter + to_overflow - off_overflow, math.max(0, balance(meter) - least))
end
local envy_micros = 0
for _, one in ipairs(owed) do envy_micros = envy_micros + one[OWED_CENTS] * MICROS_PER_CENT end
local of_house = micros - off_meter - off_overflow - off_there - off_overflow_there
if not leaves('house', of_house + envy_micros) or not transfer_fits('house', 'envy:' .. ID, envy_micros) then
  return { 'books_full' }
end

local transfers = {}
transfer(transfers, meter, account, off_meter, now)
transfer(transfers, overflow, account, off_overflow, now)
if passed_to then
  transfer(transfers, 'overflow:' .. passed_to, account, off_overflow_there, passed_cycle)
  transfer(transfers, 'meter:' .. passed_to, account, off_there, passed_cycle)
  touch_meter(passed_to)
end
transfer(transfers, 'house', account, of_house, now)
for _, one in ipairs(owed) do
  transfer(transfers, 'house', 'envy:' .. ID, one[OWED_CENTS] * MICROS_PER_CENT, cycle_of(one[OWED_METER]))
  tally('envy_reopened_cents:' .. one[OWED_METER], one[OWED_CENTS])
end
tally('reopened:' .. METER, 1)
tally('reopened_cents:' .. METER, tonumber(claim['amount']))
if percent then
  set_meter('pending:' .. METER, count_of(meters, 'pending:' .. METER) + 1)
  touch_meter(METER)
end
if HOLD ~= '' then
  local held = table_at(TABLE_ID)[TABLE_HELD]
  set_table(TABLE_ID, TABLE_HELD, held == '' and HOLD or held .. '\n' .. HOLD)
end
touch_floor()
local entry = note_entry('reopen', BY, TABLE_ID, ROUND, 0, transfers, DECISION, '')

write_books()
redis.call('HSET', CLAIM, 'state', 'pending', 'by', BY, 'reopen_by', BY, 'reopen_at', AT, 'decision', DECISION)
redis.call('HDEL', CLAIM, 'returned', 'envy_decision')
-- A later rejection gives this amount back to the house.
if of_house > 0 then redis.call('HSET', CLAIM, 'of_house', exact(of_house)) end
drop_request(CLAIM)
if envy and envy ~= 'paid' then decide_envy(CLAIM, 'pending', BY) end
redis.call('ZADD', WAITING, claim['entry'], ID)
repeat_claims({ [TABLE_ID] = { ID } })
write_tables()
return { 'done', 'pending', claim['amount'], exact(math.floor(balance(meter) / MICROS_PER_CENT)), exact(entry) }
