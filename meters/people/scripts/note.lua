-- Writes entries of the operators' log (duty D17), numbered without a gap, each chained to the one
-- before: `chain` is the SHA-1 over the chain before, the entry's id and its fields in order, each
-- with its length before it. The head, beside the log, keeps the last number and the last chain,
-- so that an entry taken off the end is missed too. What begins is of the present layout.

local function note(log, head, entry)
  local known = redis.call('HMGET', head, 'entries', 'chain')
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)
  local number = tonumber(known[1] or '0')
  if last[1] then
    number = math.max(number, tonumber(string.match(last[1][1], '^%d+')))
  end
  number = number + 1
  local id = string.format('%.0f-0', number)
  local fields = {
    'at', entry.at, 'what', entry.what, 'by', entry.by, 'about', entry.about,
    'client', entry.client,
  }
  local text = {known[2] or '', #id, ':', id}
  for _, part in ipairs(fields) do
    text[#text + 1] = #part
    text[#text + 1] = ':'
    text[#text + 1] = part
  end
  local chain = redis.sha1hex(table.concat(text))
  fields[#fields + 1] = 'chain'
  fields[#fields + 1] = chain
  redis.call('XADD', log, id, unpack(fields))
  if not known[1] then
    redis.call('HSET', head, 'schema', SCHEMA)
  end
  redis.call('HSET', head, 'entries', string.format('%.0f', number), 'chain', chain)
end

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
