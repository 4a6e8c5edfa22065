-- Checks the meters of a link when a service starts. The house seeds new meters. The terms (such as
-- rates) of the other meters must be unchanged (duties D10, D12). All checks are made before the
-- first write. Data with another schema version is not changed.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
-- ARGV  1 the time, RFC 3339   2 the digest of all terms   3 the actor
--       4… six per meter: its id, its terms as text, its terms in the floor file (these
--       differ from the former if a proposal changed a parameter), its seed in micros, and for a
--       must-hit-by meter the entry of its first hidden value for the ledger, and this value
--       sealed; both are empty for other meters
-- Output, in order of precedence ('differs' and 'lost' meter by meter, in the order of ARGV)
--   { 'schema', version }   the data in Redis has another schema version, or none ('')
--   { 'differs', meter, the terms in Redis }   the meter has other terms in Redis
--   { 'lost', meter }       the meter has an account, but no terms
--   { 'dropped', meter }    Redis has a meter that the floor file does not name
--   { 'open' }

local TERMS, BY = ARGV[2], ARGV[3]
local FIRST_METER, ARGS_PER_METER = 4, 6

--include books

local begun = meters['terms'] or last_entry > 0
local version = meters['schema'] or (begun and '' or SCHEMA)
if version ~= SCHEMA then return { 'schema', version } end

local named, new = {}, {}
for i = FIRST_METER, #ARGV, ARGS_PER_METER do
  local meter, set_terms = ARGV[i], ARGV[i + 1]
  local terms = meters['terms:' .. meter]
  named['terms:' .. meter] = true
  if terms and terms ~= set_terms then return { 'differs', meter, terms } end
  if not terms then
    if redis.call('HEXISTS', ACCOUNTS, 'meter:' .. meter) == 1 then return { 'lost', meter } end
    new[#new + 1] = {
      meter = meter, terms = set_terms, seed_micros = tonumber(ARGV[i + 3]), drawn = ARGV[i + 4], sealed = ARGV[i + 5],
    }
  end
end
for field in pairs(meters) do
  if string.sub(field, 1, 6) == 'terms:' and not named[field] then
    return { 'dropped', string.sub(field, 7) }
  end
end

for _, one in ipairs(new) do
  local transfers = {}
  set_meter('cycle:' .. one.meter, 1)
  transfer(transfers, 'house', 'meter:' .. one.meter, one.seed_micros, 1)
  touch_meter(one.meter)
  note_entry('seed', BY, '', '', 0, transfers, one.terms, '')
  if one.drawn ~= '' then note_entry('hidden_value', BY, '', '', 0, {}, one.drawn, '') end
end
write_books()
for _, one in ipairs(new) do
  redis.call('HSET', METERS, 'terms:' .. one.meter, one.terms)
  if one.drawn ~= '' then redis.call('HSET', METERS, 'hidden:' .. one.meter, one.sealed) end
end
for i = FIRST_METER, #ARGV, ARGS_PER_METER do
  local meter, file_terms = ARGV[i], ARGV[i + 2]
  redis.call('HSET', METERS, 'file:' .. meter, file_terms)
end
redis.call('HSET', METERS, 'terms', TERMS)
return { 'open' }
