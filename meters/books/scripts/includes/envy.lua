-- What is owed for Envy under a claim; `owed` is { meter, cents } each.

local function holds_envy(claim, owed, micros)
  local sum = 0
  for _, one in ipairs(owed) do sum = sum + one[2] * MICROS_PER_CENT end
  return sum == micros and balance('envy:' .. claim) == micros
end

-- Moves all of it, counted by meter; that it fits has been checked.
local function move_envy(transfers, claim, owed, to, counted)
  for _, one in ipairs(owed) do
    transfer(transfers, 'envy:' .. claim, to, one[2] * MICROS_PER_CENT, cycle_of(one[1]))
    tally(counted .. one[1], one[2])
  end
end

local function decide_envy(key, state, by)
  redis.call('HSET', key, 'envy', state, 'envy_by', by, 'envy_at', AT)
end
