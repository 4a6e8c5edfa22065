-- Confirms another person's proposal, so that the change takes effect, or withdraws a proposal,
-- with a ledger entry (duties D4, D12, D15).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 proposals  9 the proposal
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 proposal id
--       4 act: confirm or withdraw   5 the actor   6 the decision as text, for the ledger
--       7 meter id   8 the meter's present terms, empty if no parameter changes
--       9 the meter's new terms   10 the digest of all terms after the change
--       11 the cents to add to the meter, negative to subtract, 0 for no amount
--       12 the meter's cycle at the time of the proposal
--       13 the seed of the new terms in micros, 0 if the wager stays the same
--       14 the reseed of the new terms in micros
--       15 the meter's limit after the change in micros, 0 for no limit
--       16 as JSON: who set the actor's PIN, and who must not be the other person of the act
-- Output, in order of precedence
--   { 'terms' }                      the link's terms are not those of ARGV 2
--   { 'unknown_proposal' }
--   { 'wrong_state', state, person } that person has already decided the proposal
--   { 'same_person', first, setter } the confirmer is the proposer, or can be the same person
--                                    because of PINs that `setter` set (duty D4)
--   { 'not_closed' }                 a parameter changes only while the link is closed
--   { 'rounds_open', number }
--   { 'stale' }                      after the proposal, the meter was won or its terms changed
--   { 'below_seed' }                 the meter has less than the new wager's seed or reseed
--   { 'limit_too_low' }              the meter has more than its new limit
--   { 'meter_full' }                 the meter could not hold its overflow
--   { 'meter_short' }                the meter has less than the amount to subtract
--   { 'above_limit' }                the meter would have more than its limit
--   { 'meter_full' }                 the number in an account would be too large
--   { 'done', state, entry }

local PROPOSALS, PROPOSAL = KEYS[8], KEYS[9]
local ID, ACT, BY, DECISION = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local METER, METER_TERMS, NEW_METER_TERMS, NEW_TERMS, CENTS = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local CYCLE, SEED_MICROS, RESEED_MICROS, LIMIT_MICROS, SETTERS = ARGV[12], ARGV[13], ARGV[14], ARGV[15], ARGV[16]

--include books
--include two_people
--include terms

local proposal = read_hash(PROPOSAL)
if not proposal['state'] then return { 'unknown_proposal' } end
if proposal['state'] ~= 'open' then
  return { 'wrong_state', proposal['state'], proposal['decided_by'] or '' }
end

local parameter, limit = proposal['kind'] == 'parameter', tonumber(LIMIT_MICROS)
local state, kind, transfers = 'withdrawn', 'withdraw', {}
if ACT == 'confirm' then
  local who, setter = one_person(proposal['by'], proposal['record'] or '{}', BY, SETTERS)
  if who then return { 'same_person', who, setter } end
  state, kind = 'confirmed', parameter and 'parameter' or 'adjust'
  if parameter then
    if not meters['closed'] then return { 'not_closed' } end
    if count_of(meters, 'rounds') > 0 then return { 'rounds_open', meters['rounds'] } end
  end
  local as_proposed = cycle_of(METER) == tonumber(CYCLE)
  if parameter then as_proposed = meters['terms:' .. METER] == METER_TERMS end
  if not as_proposed then return { 'stale' } end
  if parameter then
    local least = cycle_of(METER) == 1 and SEED_MICROS or RESEED_MICROS
    if SEED_MICROS ~= '0' and balance('meter:' .. METER) < tonumber(least) then return { 'below_seed' } end
    if above_limit(limit, METER, 0) then return { 'limit_too_low' } end
    if not can_receive('meter:' .. METER, balance('overflow:' .. METER)) then return { 'meter_full' } end
  else
    local account, cents = 'meter:' .. METER, tonumber(CENTS)
    local from, to, micros = 'house', account, cents * MICROS_PER_CENT
    if cents < 0 then
      from, to, micros = account, 'house', -micros
      if balance(account) < micros then return { 'meter_short' } end
    end
    if cents > 0 and above_limit(limit, METER, micros) then return { 'above_limit' } end
    if not transfer_fits(from, to, micros) then return { 'meter_full' } end
    transfer(transfers, from, to, micros, cycle_of(METER))
    tally((cents < 0 and 'adjusted_down_cents:' or 'adjusted_up_cents:') .. METER, math.abs(cents))
  end
  refill_meter(transfers, METER, cycle_of(METER), limit)
  touch_meter(METER)
end

touch_floor()
local entry = note_entry(kind, BY, '', '', 0, transfers, DECISION, '')
write_books()
redis.call('HSET', PROPOSAL, 'state', state, 'decided_by', BY, 'decided_at', AT)
redis.call('ZREM', PROPOSALS, ID)
if state == 'confirmed' and parameter then
  redis.call('HSET', METERS, 'terms:' .. METER, NEW_METER_TERMS, 'terms', NEW_TERMS)
end
return { 'done', state, exact(entry) }
