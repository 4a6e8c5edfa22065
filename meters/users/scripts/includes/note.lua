-- Writes entries of the operators' log (duty D17), numbered without a gap, each chained to the one
-- before: `chain` is the SHA-1 over the chain before, the entry's id and its fields in order, each
-- with its length before it. The head, beside the log, keeps the last number and the last chain,
-- so that an entry taken off the end is missed too. What begins is of the present layout.

-- Further keys are those of the accounts that the entry is about, where its number is kept as well.
local function note(log, head, entry, ...)
  local entries, last_chain = unpack(redis.call('HMGET', head, 'entries', 'chain'))
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)
  local number = tonumber(entries or '0')
  if last[1] then
    number = math.max(number, tonumber(string.match(last[1][1], '^%d+')))
  end
  number = number + 1
  local id = string.format('%.0f-0', number)
  local fields = {
    'at', entry.at, 'what', entry.what, 'by', entry.by, 'about', entry.about,
    'client', entry.client,
  }
  for _, part in ipairs(entry.kept or {}) do fields[#fields + 1] = part end
  local text = {last_chain or '', #id, ':', id}
  for _, part in ipairs(fields) do
    text[#text + 1] = #part
    text[#text + 1] = ':'
    text[#text + 1] = part
  end
  local chain = redis.sha1hex(table.concat(text))
  fields[#fields + 1] = 'chain'
  fields[#fields + 1] = chain
  redis.call('XADD', log, id, unpack(fields))
  if not entries then
    redis.call('HSET', head, 'schema', SCHEMA)
  end
  redis.call('HSET', head, 'entries', string.format('%.0f', number), 'chain', chain)
  for _, account in ipairs({...}) do
    redis.call('ZADD', account, string.format('%.0f', number), string.format('%.0f', number))
  end
end

-- What an entry says of a user, so that the users can be made again from the log: a digest of what is
-- kept of the PIN, who set it, until when it serves to choose another, and the role where it is set.
-- The step that calls this has just set the PIN, and with `with_role` all of the user: what somebody
-- wrote behind the service's back is not taken into the log.
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
