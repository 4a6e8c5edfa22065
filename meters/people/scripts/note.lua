-- Writes entries of the operators' log (duty D17), numbered without a gap.

local function note(log, entry)
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)
  local number = 1
  if last[1] then
    number = tonumber(string.match(last[1][1], '^%d+')) + 1
  end
  redis.call('XADD', log, string.format('%.0f-0', number),
    'at', entry.at, 'what', entry.what, 'by', entry.by, 'about', entry.about,
    'client', entry.client)
end

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
