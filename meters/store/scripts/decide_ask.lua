-- Confirms or refuses a table's correction request.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 asks
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 the id of the request
--       4 act: confirm_correction or refuse_correction   5 the actor   6 table id   7 round id
--       8 the digest of the request
--       9 for a refusal: the reply to the table's next try, without the event's number
--       10 the decision as text, for the ledger
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_ask' }                 the table has no request, or another request
--   { 'wrong_state', state, person }  already decided: the decision, the person
--   { 'done', entry }

local ASKS = KEYS[8]
local ASK, ACT, BY, TABLE_ID = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ROUND, DIGEST, REFUSAL, DECISION = ARGV[7], ARGV[8], ARGV[9], ARGV[10]

--include books
--include terms

local text, decided = unpack(redis.call('HMGET', ASKS, TABLE_ID, TABLE_ID .. '!'))
local named = DIGEST .. '\n' .. ASK .. '\n'
if not text or string.sub(text, 1, #named) ~= named then return { 'unknown_ask' } end
if decided then
  local state, who = string.match(decided, '^(%a+)\n([^\n]*)')
  return { 'wrong_state', state or '', who or '' }
end

touch_floor()
local entry = note_entry(ACT, BY, TABLE_ID, ROUND, 0, {}, DECISION, '')
local decision = 'confirmed\n' .. BY
if ACT == 'refuse_correction' then decision = 'refused\n' .. BY .. '\n' .. REFUSAL end

write_books()
redis.call('HSET', ASKS, TABLE_ID .. '!', decision)
return { 'done', exact(entry) }
