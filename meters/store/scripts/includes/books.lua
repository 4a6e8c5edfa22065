-- The data of one link while a script runs. Each balance is read once from Redis, and transfers
-- change only the balances in Lua. Nothing is written to Redis before the script calls
-- `write_books` at its end: a script that stops earlier has changed nothing.
-- Amounts are whole micros in Lua numbers, which are exact up to 2^53 - 1; `transfer_fits` checks
-- that no balance goes above this limit. The format '%d', in which amounts go to Redis, keeps all
-- digits.

-- Every script of a link receives these Redis keys first, and the time as its first argument.
local ACCOUNTS, TALLIES, METERS, LEDGER = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local WAITING, WINS, ACTS = KEYS[5], KEYS[6], KEYS[7]
local AT = ARGV[1]

local MICROS_MAX = 9007199254740991
local MICROS_PER_CENT = 10000

local format = string.format

local function exact(number)
  return format('%d', number)
end

-- The texts of numbers that a call needs often, such as lengths, cycles and contributions: Lua
-- needs time to format a number.
local EXACT = setmetatable({}, { __index = function(known, number)
  known[number] = exact(number)
  return known[number]
end })

-- Names of fields: a text before the id of a meter or a table. Scripts use them often, and Lua
-- needs time for each new text.
local function prefixed(prefix)
  return setmetatable({}, { __index = function(known, id)
    known[id] = prefix .. id
    return known[id]
  end })
end

local METER_ACCOUNT, RESERVE_ACCOUNT, OVERFLOW_ACCOUNT = prefixed('meter:'), prefixed('reserve:'), prefixed('overflow:')
local TABLE_ACCOUNT, CYCLE_FIELD = prefixed('table:'), prefixed('cycle:')

local function count_of(hash, field)
  return tonumber(hash[field] or '0')
end

-- Calls a command with a list of arguments, in parts: Lua unpacks at most 8,000 values at once.
local PART = 4000

local function call_with(command, key, list)
  for first = 1, #list, PART do
    redis.call(command, key, unpack(list, first, math.min(first + PART - 1, #list)))
  end
end

local function read_hash(key)
  local flat = redis.call('HGETALL', key)
  local hash = {}
  for i = 1, #flat, 2 do
    hash[flat[i]] = flat[i + 1]
  end
  return hash
end

local balances, before = {}, {}

local function keep_balance(account, text)
  local micros = tonumber(text or '0')
  balances[account], before[account] = micros, micros
end

local function balance(account)
  if not balances[account] then keep_balance(account, redis.call('HGET', ACCOUNTS, account)) end
  return balances[account]
end

-- Reads the balances of several accounts with one command.
local function read_balances(accounts)
  if #accounts == 0 then return end
  local stored = redis.call('HMGET', ACCOUNTS, unpack(accounts))
  for index, account in ipairs(accounts) do keep_balance(account, stored[index]) end
end

local function leaves(from, micros)
  return math.abs(balance(from) - micros) <= MICROS_MAX
end

local function can_receive(to, micros)
  return balance(to) + micros <= MICROS_MAX
end

local function transfer_fits(from, to, micros)
  return leaves(from, micros) and can_receive(to, micros)
end

-- Returns the part of an amount that a meter can receive up to its payout limit (duty D3). A limit
-- of 0 means that there is no limit.
local function room_under(limit, meter, micros)
  if limit == 0 then return micros end
  return math.max(0, math.min(micros, limit - balance(METER_ACCOUNT[meter])))
end

local function above_limit(limit, meter, micros)
  return limit > 0 and balance(METER_ACCOUNT[meter]) + micros > limit
end

-- Applies a checked transfer to the balances, and adds it to a ledger entry's list. A transfer of 0
-- micros is left out.
local function transfer(transfers, from, to, micros, cycle)
  if micros > 0 then
    balances[from] = balance(from) - micros
    balances[to] = balance(to) + micros
    transfers[#transfers + 1] = (transfers[1] and ',["' or '[["') .. from .. '","' .. to .. '",' .. EXACT[micros] .. ','
      .. EXACT[cycle] .. ']'
  end
end

-- Returns the list of transfers as the ledger entry has it.
local function transfers_text(transfers)
  transfers[#transfers + 1] = transfers[1] and ']' or '[]'
  return table.concat(transfers)
end

local meters = read_hash(METERS)
local changed_meters, rising = {}, {}

local function cycle_of(meter)
  return count_of(meters, CYCLE_FIELD[meter])
end

local function set_meter(field, number)
  meters[field] = exact(number)
end

local function touch_meter(meter)
  changed_meters[meter] = true
end

-- `floor_changed` is true if the script changes data that the floor page shows, such as a claim,
-- the link's state, a proposal or a correction request.
local floor_changed, rounds_added = false, 0

local function touch_floor()
  floor_changed = true
end

local function add_rounds(number)
  rounds_added = rounds_added + number
end

local function tally(field, amount)
  rising[field] = (rising[field] or 0) + amount
end

local METER_FIELDS = setmetatable({}, { __index = function(known, prefix)
  known[prefix] = prefixed(prefix)
  return known[prefix]
end })

local function tally_meter(prefix, meter, amount)
  tally(METER_FIELDS[prefix][meter], amount)
end

-- Fills a meter up to its payout limit, and returns the rest, which goes to the meter's overflow. If
-- `overflow_to` names another meter, the rest goes on from there to that meter, up to the limit of
-- that meter, and to its overflow above. Without another meter, `overflow_to` is empty or nil. The
-- caller has checked that the numbers in all these accounts do not become too large.
local function fill_meter(transfers, from, meter, micros, cycle, limit, overflow_to, limit_there)
  local taken = room_under(limit, meter, micros)
  transfer(transfers, from, METER_ACCOUNT[meter], taken, cycle)
  transfer(transfers, from, OVERFLOW_ACCOUNT[meter], micros - taken, cycle)
  if micros > taken then
    tally_meter('overflow_micros:', meter, micros - taken)
    if (overflow_to or '') ~= '' then
      fill_meter(transfers, OVERFLOW_ACCOUNT[meter], overflow_to, micros - taken, cycle_of(overflow_to), limit_there)
      touch_meter(overflow_to)
    end
  end
  return micros - taken
end

-- Refills a meter from its overflow, up to its payout limit. A script calls this if it raises the
-- limit, or takes money off the meter and leaves the overflow: a meter with an overflow is always
-- at its limit (duty D3).
local function refill_meter(transfers, meter, cycle, limit)
  local overflow = OVERFLOW_ACCOUNT[meter]
  transfer(transfers, overflow, METER_ACCOUNT[meter], room_under(limit, meter, balance(overflow)), cycle)
end

local last_entry, chain = count_of(meters, 'entries'), meters['chain'] or ''

-- The entries of this call. `texts` has their events and replies as fields of the stream entry: to
-- pack them, Lua would need time for each byte. The texts of table events are in one field, which
-- the service has compressed. There, each entry names the place of its own texts.
local entries, texts, acts = {}, {}, {}

-- The length of a text as the chain writes it, with a colon.
local LENGTH = setmetatable({}, { __index = function(known, length)
  known[length] = exact(length) .. ':'
  return known[length]
end })

local CHAINED_AT = '2:at' .. LENGTH[#AT] .. AT .. '2:by'

-- Returns what the chain covers of an event or a reply: only its digest. The service sends the
-- digests of tables' texts, so Lua needs no time for each byte of them. `name` is the length and
-- the name of the field, such as '5:event'.
local function chained(name, text)
  return name .. '40:' .. redis.sha1hex(text)
end

-- Adds an entry to the chain of digests. Returns the number of the entry as text. This number
-- determines the order of wins (duty D7).
-- The digest of an entry covers the entry and the digest of the entry before it. So if somebody
-- changes, omits or inserts an entry, the digests of all later entries show this (duty D17).
-- `chain.py` computes the same digest. `texts` are the digests of the event and its reply, as
-- `chained` returns them.
local function chain_entry(kind, by, table_id, round, seq, transfers, texts)
  last_entry = last_entry + 1
  local number = EXACT[last_entry]
  local id = number .. '-0'
  chain = redis.sha1hex(
    chain .. LENGTH[#id] .. id .. '4:kind' .. LENGTH[#kind] .. kind .. CHAINED_AT .. LENGTH[#by] .. by
    .. '5:table' .. LENGTH[#table_id] .. table_id .. '5:round' .. LENGTH[#round] .. round
    .. '3:seq' .. LENGTH[#seq] .. seq .. '9:transfers' .. LENGTH[#transfers] .. transfers .. texts)
  return number
end

-- Adds a ledger entry that no table made to the entries that `write_books` will write, and to the
-- index of acts. Returns the number of the entry.
local function note_entry(kind, by, table_id, round, seq, transfers, event, reply)
  local seq_text, moved = exact(seq), transfers_text(transfers)
  local number = chain_entry(kind, by, table_id, round, seq_text, moved, chained('5:event', event) .. chained('5:reply', reply))
  entries[#entries + 1] = { kind, AT, by, table_id, round, seq_text, moved, chain }
  texts[#texts + 1], texts[#texts + 2] = 'event' .. #entries, event
  texts[#texts + 1], texts[#texts + 2] = 'reply' .. #entries, reply
  acts[#acts + 1] = number
  return last_entry
end

-- Checks that the ledger ends with the entry that the hash of meters names as the last one. If this
-- call has entries, it writes the ledger and the hash together. The digest is at the end of the
-- packed entries.
local function is_head_in_ledger()
  if #entries > 0 then return true end
  local last = redis.call('XREVRANGE', LEDGER, '+', '-', 'COUNT', 1)[1]
  if not last then return last_entry == 0 end
  local id, fields = unpack(last)
  local name, packed = unpack(fields)
  return id == exact(last_entry) .. '-0' and name == 'entries' and string.sub(packed, -#chain) == chain
end

-- Writes the entries of this call as one entry of the Redis stream (`stored_entries.py`). Its id
-- has the number of the last entry. Redis refuses an id that is not above all earlier ids; this
-- function also checks the number of the first entry. `compressed` are the texts of the entries of
-- tables.
local function write_ledger(compressed)
  local number = #entries
  if number == 0 then return end
  if number > 1 then
    local first = exact(last_entry - number + 1) .. '-0'
    if #redis.call('XRANGE', LEDGER, first, '+', 'COUNT', 1) > 0 then
      error('the ledger already has an entry from ' .. first .. ' on')
    end
  end
  if compressed then texts = { 'texts', compressed } end
  redis.call('XADD', LEDGER, exact(last_entry) .. '-0', 'entries', cmsgpack.pack(entries), unpack(texts))
end

-- Returns the changed tallies: to write them with one command is less work for Redis, its append-only
-- file and its replicas than an HINCRBY for each. Returns nil if a sum is too large for Lua.
local function risen()
  local fields, written = {}, {}
  for field in pairs(rising) do fields[#fields + 1] = field end
  local stored = #fields > 0 and redis.call('HMGET', TALLIES, unpack(fields))
  for index, field in ipairs(fields) do
    local sum = tonumber(stored[index] or '0') + rising[field]
    if sum > MICROS_MAX then return nil end
    written[#written + 1], written[#written + 2] = field, exact(sum)
  end
  return written
end

-- Writes the changes to Redis. All checks were made before, so the writes succeed. The ledger is
-- first: if it already has a higher entry number, it refuses the new entries, and nothing is
-- written.
local function write_books(compressed)
  local tallies = risen()
  write_ledger(compressed)
  for _, act in ipairs(acts) do
    redis.call('ZADD', ACTS, act, act)
  end
  local changed, gone = {}, {}
  for account, micros in pairs(balances) do
    local sort = micros == 0 and string.match(account, '^%a+:')
    if sort == 'claim:' or sort == 'envy:' then
      gone[#gone + 1] = account -- the accounts of a decided claim are no longer needed
    elseif micros ~= before[account] then
      changed[#changed + 1], changed[#changed + 2] = account, exact(micros)
    end
  end
  call_with('HSET', ACCOUNTS, changed)
  call_with('HDEL', ACCOUNTS, gone)
  if tallies then
    call_with('HSET', TALLIES, tallies)
  else
    for field, amount in pairs(rising) do redis.call('HINCRBY', TALLIES, field, exact(amount)) end
  end
  local written = { 'entries', exact(last_entry), 'chain', chain }
  if not meters['entries'] then -- new data
    written[#written + 1] = 'schema'
    written[#written + 1] = SCHEMA
  end
  if rounds_added ~= 0 then
    written[#written + 1] = 'rounds'
    written[#written + 1] = exact(count_of(meters, 'rounds') + rounds_added)
  end
  if floor_changed then
    written[#written + 1] = 'changes'
    written[#written + 1] = exact(count_of(meters, 'changes') + 1)
  end
  for meter in pairs(changed_meters) do
    set_meter('version:' .. meter, count_of(meters, 'version:' .. meter) + 1)
    for _, name in ipairs({ 'version:', 'cycle:', 'pending:' }) do
      written[#written + 1] = name .. meter
      written[#written + 1] = meters[name .. meter] or '0'
    end
  end
  redis.call('HSET', METERS, unpack(written))
end
