-- The claims whose state the service reports again when a table sends a hello: the table can have
-- missed an earlier report. They are the table's latest wins, and the claims that were decided
-- last. The latest claim is at the end of the list.

local REPEATED_CLAIMS_MAX = 64

local function with_repeated_claims(text, added)
  local claims, new = {}, {}
  for _, claim in ipairs(added) do new[claim] = true end
  for claim in string.gmatch(text, '%S+') do
    if not new[claim] then claims[#claims + 1] = claim end
  end
  for _, claim in ipairs(added) do claims[#claims + 1] = claim end
  while #claims > REPEATED_CLAIMS_MAX do table.remove(claims, 1) end
  return table.concat(claims, ' ')
end

-- `added` has a list of claims for each of some tables.
local function repeat_claims(added)
  local ids, written = {}, {}
  for table_id in pairs(added) do ids[#ids + 1] = table_id end
  if #ids == 0 then return end
  local texts = redis.call('HMGET', REPEATED_CLAIMS, unpack(ids))
  for index, table_id in ipairs(ids) do
    written[2 * index - 1], written[2 * index] = table_id, with_repeated_claims(texts[index] or '', added[table_id])
  end
  call_with('HSET', REPEATED_CLAIMS, written)
end
