-- The claims whose state is reported to a table again, because the table can have missed the first
-- report. They are the table's last wins, and the claims that somebody decided last. The latest
-- claim is the last one.

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
