-- Confirms or refuses a correction that a table asks a floorperson for.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 asks
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 the id of the ask
--       4 act: confirm_correction or refuse_correction   5 who   6 table id   7 round id
--       8 the digest of what is asked
--       9 where it is refused: the reply to the table's next try, from after its number on
--       10 the decision as text, for the ledger
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_ask' }                 the table asks for nothing, or for something else by now
--   { 'wrong_state', state, who }     it was decided already: how, by whom
--   { 'done', entry }

local ASKS = KEYS[8]

--include books
--include present

if (meters['terms'] or '') ~= ARGV[2] then return { 'terms' } end
local table_id, by = ARGV[6], ARGV[5]
local read = redis.call('HMGET', ASKS, table_id, table_id .. '!')
local named = ARGV[8] .. '\n' .. ARGV[3] .. '\n'
if not read[1] or string.sub(read[1], 1, #named) ~= named then return { 'unknown_ask' } end
if read[2] then
  local state, who = string.match(read[2], '^(%a+)\n([^\n]*)')
  return { 'wrong_state', state or '', who or '' }
end

touch_desk()
local entry = note_entry(ARGV[4], by, table_id, ARGV[7], 0, {}, ARGV[10], '')
local decision = 'confirmed\n' .. by
if ARGV[4] == 'refuse_correction' then decision = 'refused\n' .. by .. '\n' .. ARGV[9] end

write_books()
redis.call('HSET', ASKS, table_id .. '!', decision)
return { 'done', exact(entry) }
