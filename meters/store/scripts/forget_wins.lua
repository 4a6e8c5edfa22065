-- Deletes wins that are finally decided and in the archive.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8… the claims
-- ARGV  1 the time, RFC 3339
--       2… three per claim: its id, its meter, its order in 16 digits
-- Output  { 'done' }; a claim that is not finally decided is not deleted

local WAITING, WINS = KEYS[5], KEYS[6]

local FIRST_CLAIM_KEY, FIRST_CLAIM_ARG, ARGS_PER_CLAIM = 8, 2, 3

for i = FIRST_CLAIM_KEY, #KEYS do
  local at = FIRST_CLAIM_ARG + ARGS_PER_CLAIM * (i - FIRST_CLAIM_KEY)
  local claim, meter, order = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if not redis.call('ZSCORE', WAITING, claim) then
    redis.call('DEL', KEYS[i])
    redis.call('ZREM', WINS, meter .. ':' .. order .. ':' .. claim, meter .. '!' .. order .. ':' .. claim)
  end
end
return { 'done' }
