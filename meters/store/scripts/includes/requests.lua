-- Requests of one person that a second person must confirm: to reject a win, or to reopen a
-- rejected win. A claim has at most one request. A request lapses when its gaming day is closed.

-- Checks that a ledger entry is of the open gaming day.
local function is_of_open_day(entry)
  return tonumber(entry) > count_of(meters, 'reading')
end

-- Checks that the claim's request is the one of a ledger entry, and that it has not lapsed.
local function has_request(claim, entry)
  return claim['request_entry'] == entry and is_of_open_day(entry)
end

local function drop_request(key)
  redis.call('HDEL', key, 'request', 'request_by', 'request_at', 'request_entry')
end
