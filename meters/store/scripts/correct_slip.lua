-- Corrects the number of the payout slip of a paid win, with a ledger entry. The link keeps the old
-- number, so that it pays no other claim.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the claim  9 slips
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 claim id
--       4 the actor   5 table id   6 round id   7 the number that is replaced, as it was typed
--       8 the folded new number   9 the correction as text, for the ledger
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_claim' }
--   { 'wrong_state', state, person }  the claim is not paid: its state, who set it
--   { 'slip_changed', slip }          the claim's present number, if it is not ARGV 7
--   { 'slip_used', claim }            the new number paid another claim, or a restore keeps the
--                                     number for another claim
--   { 'done', entry }

local CLAIM, SLIPS = KEYS[8], KEYS[9]
local ID, BY, TABLE_ID, ROUND = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local REPLACED, SLIP, CORRECTION = ARGV[7], ARGV[8], ARGV[9]

--include books
--include used_slips
--include claim

if claim['state'] ~= 'paid' then return { 'wrong_state', claim['state'], claim['by'] or '' } end

local present = cjson.decode(claim['slip_correction'] or claim['decision'] or '{}')['slip']
if present ~= REPLACED then return { 'slip_changed', present or '' } end
local used = used_by_other(claim, ID, SLIP)
if used then return { 'slip_used', used } end

touch_floor()
local entry = note_entry('correct_slip', BY, TABLE_ID, ROUND, 0, {}, CORRECTION, '')
write_books()
redis.call('HSET', CLAIM, 'slip_correction', CORRECTION, 'correct_slip_by', BY, 'correct_slip_at', AT)
redis.call('HSET', SLIPS, SLIP, ID)
return { 'done', exact(entry) }
