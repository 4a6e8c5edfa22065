-- Opens a link's meters: a meter that has never been is seeded by the house; one that has been
-- must have kept its terms (duties D10, D12). Everything is checked before anything is written.
-- Books of another layout are not touched.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
-- ARGV  1 the time, RFC 3339   2 the digest of all terms   3 who opens
--       4… four a meter: its id, its terms as text, its terms as the floor file has them (others
--       where they were changed since by proposal), its seed in micros
-- Output, in order of precedence; the second and third meter by meter, as ARGV names them
--   { 'schema', version }   the books are of another version
--   { 'differs', meter, the terms in the store }   the terms are not those of the store
--   { 'lost', meter }       the meter has an account but its terms are gone
--   { 'dropped', meter }    the store has a meter that the floor file does not name
--   { 'open' }

--include books

local begun = meters['terms'] or last_entry > 0
local version = meters['schema'] or (begun and '1' or SCHEMA)
if version ~= SCHEMA then return { 'schema', version } end

local named, new = {}, {}
for i = 4, #ARGV, 4 do
  local meter, terms = ARGV[i], meters['terms:' .. ARGV[i]]
  named['terms:' .. meter] = true
  if terms and terms ~= ARGV[i + 1] then return { 'differs', meter, terms } end
  if not terms then
    if redis.call('HEXISTS', ACCOUNTS, 'meter:' .. meter) == 1 then return { 'lost', meter } end
    new[#new + 1] = i
  end
end
for field in pairs(meters) do
  if string.sub(field, 1, 6) == 'terms:' and not named[field] then
    return { 'dropped', string.sub(field, 7) }
  end
end

for _, i in ipairs(new) do
  local meter, transfers = ARGV[i], {}
  set_meter('cycle:' .. meter, 1)
  transfer(transfers, 'house', 'meter:' .. meter, tonumber(ARGV[i + 3]), 1)
  touch_meter(meter)
  note_entry('seed', ARGV[3], '', '', 0, transfers, ARGV[i + 1], '')
end
write_books()
for _, i in ipairs(new) do redis.call('HSET', METERS, 'terms:' .. ARGV[i], ARGV[i + 1]) end
for i = 4, #ARGV, 4 do redis.call('HSET', METERS, 'file:' .. ARGV[i], ARGV[i + 2]) end
redis.call('HSET', METERS, 'terms', ARGV[2])
return { 'open' }
