-- The amounts of a rejection, which a claim keeps until the win is reopened.

-- Returns the number of the rejection's ledger entry, the micros that the rejection moved to the
-- meter and to the meter's overflow, and the meter's cycle; nil if the claim lacks these amounts. If
-- the part above the limit went on to another meter, this meter and its cycle follow.
local function returned_amounts(claim)
  local entry, to_meter, to_overflow, cycle, more = string.match(claim['returned'] or '', '^(%d+) (%d+) (%d+) (%d+)(.*)$')
  local passed_to, passed_cycle = string.match(more or '', '^ (%S+) (%d+)$')
  if entry and (more == '' or passed_to) then
    return tonumber(entry), tonumber(to_meter), tonumber(to_overflow), tonumber(cycle), passed_to, tonumber(passed_cycle or 0)
  end
end
