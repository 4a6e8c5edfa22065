-- Writes entries of the operators' log (duty D17). Entries are numbered without a gap, and each
-- entry is chained to the entry before it. The field `chain` of an entry is the SHA-1 over the
-- `chain` of the entry before, and over the id and the fields of the entry in order. Each of these
-- parts follows its length. The log's head is a separate Redis key with the last number and the
-- last `chain`. So even the removal of the last entry is detected. A new log has the schema version
-- of this release.
-- If the services have a secret, the field `mac` is an HMAC over the same data. `mac` is added
-- before `chain` is calculated. The service that calls the script makes the HMAC key, for one head
-- of the log. The last five arguments in ARGV are: the number of this head, its `chain`, and the
-- name of the secret of its MAC; the name of the secret for new MACs, empty for none; and the HMAC
-- key, as the inner and the outer block of HMAC.

local KNOWN_NUMBER, KNOWN_CHAIN, KNOWN_MAC_BY = ARGV[#ARGV - 4], ARGV[#ARGV - 3], ARGV[#ARGV - 2]
local MAC_BY, BLOCKS = ARGV[#ARGV - 1], ARGV[#ARGV]

-- Returns the number and the `chain` of the last entry, the name of the secret of its MAC, and the
-- number of entries according to the head.
local function head_of(log, head)
  local entries, chain, mac_by = unpack(redis.call('HMGET', head, 'entries', 'chain', 'mac_by'))
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)
  local number = tonumber(entries or '0')
  if last[1] then
    number = math.max(number, tonumber(string.match(last[1][1], '^%d+')))
  end
  return string.format('%.0f', number), chain or '', mac_by or '', entries
end

-- If the caller's HMAC key is for another head of the log, returns an answer for the caller. If the
-- key is for the present head, returns nothing. A script that adds log entries calls this before it
-- writes anything.
local function moved(log, head)
  local number, chain, by = head_of(log, head)
  local same = number == KNOWN_NUMBER and chain == KNOWN_CHAIN and by == KNOWN_MAC_BY
  if MAC_BY == '' and by == '' or MAC_BY ~= '' and same then
    return nil
  end
  return {'moved', number, chain, by}
end

local function measured(chain, id, fields)
  local text = {chain, #id, ':', id}
  for _, part in ipairs(fields) do
    text[#text + 1] = #part
    text[#text + 1] = ':'
    text[#text + 1] = part
  end
  return table.concat(text)
end

local function mac_of(text)
  local inner = redis.sha1hex(string.sub(BLOCKS, 1, 64) .. text)
  local bytes = string.gsub(inner, '%x%x', function(two) return string.char(tonumber(two, 16)) end)
  return MAC_BY .. ':' .. redis.sha1hex(string.sub(BLOCKS, 65) .. bytes)
end

local after = nil

-- Returns the answer of a script. If the script added a log entry, the answer has the log's new
-- head.
local function answered(answer)
  return after and {'noted', after.number, after.chain, answer} or answer
end

-- Adds an entry to the log. More arguments are Redis keys of indexes of log entries by user. The
-- number of the entry is added to each of these indexes.
local function note(log, head, entry, ...)
  local before, last_chain, _, begun = head_of(log, head)
  local number = string.format('%.0f', tonumber(before) + 1)
  local id = number .. '-0'
  local fields = {
    'at', entry.at, 'what', entry.what, 'by', entry.by, 'about', entry.about,
    'client', entry.client,
  }
  for _, part in ipairs(entry.kept or {}) do fields[#fields + 1] = part end
  if MAC_BY ~= '' then
    local mac = mac_of(measured(last_chain, id, fields))
    fields[#fields + 1] = 'mac'
    fields[#fields + 1] = mac
    redis.call('HSET', head, 'mac_by', MAC_BY)
  end
  local chain = redis.sha1hex(measured(last_chain, id, fields))
  fields[#fields + 1] = 'chain'
  fields[#fields + 1] = chain
  redis.call('XADD', log, id, unpack(fields))
  if not begun then
    redis.call('HSET', head, 'schema', SCHEMA)
  end
  redis.call('HSET', head, 'entries', number, 'chain', chain)
  for _, account in ipairs({...}) do
    redis.call('ZADD', account, number, number)
  end
  after = {number = number, chain = chain}
end

-- Returns the fields of a log entry from which an audit can derive a user: a digest of the stored
-- PIN, who set the PIN, and until when the user must choose their own PIN. With `with_role`, the
-- role is added. The calling script has just set the PIN, or with `with_role` all fields of the
-- user. So a value that somebody wrote directly into Redis does not get into the log.
local function user_fields(user, with_role)
  local pin, pin_by, choose_by, role = unpack(redis.call('HMGET', user, 'pin', 'pin_by', 'choose_by', 'role'))
  local fields = {
    'pin', redis.sha1hex(pin or ''), 'pin_by', pin_by or '', 'choose_by', choose_by or '',
  }
  if with_role then
    fields[#fields + 1] = 'role'
    fields[#fields + 1] = role or ''
  end
  return fields
end

local function now_ms()
  local seconds, microseconds = unpack(redis.call('TIME'))
  return tonumber(seconds) * 1000 + math.floor(tonumber(microseconds) / 1000)
end
