-- Settles the owed Envy Bonuses of a hand: the table has paid them, or they are not due.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the claim
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 claim id
--       4 act: pay_envy or reject_envy   5 the actor   6 table id   7 round id
--       8 '1' for a claim of Envy Bonuses only   9 '1' if the claim's win is a hand pay
--       10 the owed bonuses, msgpack: { meter, cents } each
--       11 the decision as text, for the ledger
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_claim' }
--   { 'wrong_state', state, person }  the bonuses are not owed: their state, who set it
--   { 'books_differ' }                the balance of the account of the bonuses is wrong
--   { 'books_full' }                  the number in an account would be too large
--   { 'done', state, amount in cents, entry }

local CLAIM = KEYS[8]
local ID, ACT, BY, TABLE_ID = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ROUND, ONLY_ENVY, HAND_PAY, OWED, DECISION = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]

--include books
--include envy
--include claim

if claim['envy'] ~= 'validated' then
  return { 'wrong_state', claim['envy'] or '', claim['envy_by'] or '' }
end

local owed, account, transfers = cmsgpack.unpack(OWED), 'envy:' .. ID, {}
local micros = balance(account)
if not holds_envy(ID, owed, micros) then return { 'books_differ' } end
local paid = ACT == 'pay_envy'
local to = paid and 'paid' or 'house'
if not transfer_fits(account, to, micros) then return { 'books_full' } end

move_envy(transfers, ID, owed, to, paid and 'table_paid_cents:' or 'envy_taken_back_cents:')
touch_floor()
local entry = note_entry(ACT, BY, TABLE_ID, ROUND, 0, transfers, DECISION, '')
local state = paid and 'paid' or 'rejected'

write_books()
decide_envy(CLAIM, state, BY)
if ONLY_ENVY == '1' then
  redis.call('HSET', CLAIM, 'state', state, 'by', BY, ACT .. '_by', BY, ACT .. '_at', AT, 'decision', DECISION)
elseif not paid then
  redis.call('HSET', CLAIM, 'envy_decision', DECISION)
end
if ONLY_ENVY == '1' or claim['state'] ~= 'validated' or HAND_PAY ~= '1' then redis.call('ZREM', WAITING, ID) end
return { 'done', state, exact(micros / MICROS_PER_CENT), exact(entry) }
