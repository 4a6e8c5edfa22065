-- Settles the Envy Bonuses of a hand that are owed: the table has paid them, or they are not due.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the claim
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 claim id
--       4 act: pay_envy or reject_envy   5 who   6 table id   7 round id
--       8 '1' for a claim of nothing but Envy   9 '1' where its win is hand paid
--       10 what is owed, msgpack: { meter, cents } each
--       11 the decision as text, for the ledger
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_claim' }
--   { 'wrong_state', state, who }     they are not owed (any more): where they are, by whom
--   { 'books_differ' }                their account does not hold their amount
--   { 'books_full' }                  an account cannot hold what would move there
--   { 'done', state, amount in cents, entry }

local CLAIM = KEYS[8]

--include books
--include envy
--include present

if (meters['terms'] or '') ~= ARGV[2] then return { 'terms' } end
local claim = read_hash(CLAIM)
if not claim['state'] then return { 'unknown_claim' } end

local id, act, by = ARGV[3], ARGV[4], ARGV[5]
if claim['envy'] ~= 'validated' then
  return { 'wrong_state', claim['envy'] or '', claim['envy_by'] or '' }
end

local owed, account, transfers = cmsgpack.unpack(ARGV[10]), 'envy:' .. id, {}
local micros = balance(account)
if not holds_envy(id, owed, micros) then return { 'books_differ' } end
local paid = act == 'pay_envy'
local to = paid and 'paid' or 'house'
if not transfer_fits(account, to, micros) then return { 'books_full' } end

move_envy(transfers, id, owed, to, paid and 'table_paid_cents:' or 'envy_taken_back_cents:')
touch_desk()
local entry = note_entry(act, by, ARGV[6], ARGV[7], 0, transfers, ARGV[11], '')
local state = paid and 'paid' or 'rejected'

write_books()
decide_envy(CLAIM, state, by)
if ARGV[8] == '1' then
  redis.call('HSET', CLAIM, 'state', state, 'by', by, act .. '_by', by, act .. '_at', AT, 'decision', ARGV[11])
elseif not paid then
  redis.call('HSET', CLAIM, 'envy_decision', ARGV[11])
end
if ARGV[8] == '1' or claim['state'] ~= 'validated' or ARGV[9] ~= '1' then redis.call('ZREM', WAITING, id) end
return { 'done', state, exact(micros / MICROS_PER_CENT), exact(entry) }
