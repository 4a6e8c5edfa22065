-- The amounts of a rejection, which a claim keeps until the win is reopened.

-- Returns the number of the rejection's ledger entry, the micros that the rejection moved to the
-- meter and to the meter's overflow, and the meter's cycle; nil if the claim lacks these amounts.
local function returned_amounts(claim)
  local entry, to_meter, to_overflow, cycle = string.match(claim['returned'] or '', '^(%d+) (%d+) (%d+) (%d+)$')
  if entry then return tonumber(entry), tonumber(to_meter), tonumber(to_overflow), tonumber(cycle) end
end
