-- The Envy Bonuses that are owed under a claim. Each element of `owed` is an `EnvyCents` of
-- `script_steps.py`.

local function holds_envy(claim, owed, micros)
  local sum = 0
  for _, one in ipairs(owed) do sum = sum + one[OWED_CENTS] * MICROS_PER_CENT end
  return sum == micros and balance('envy:' .. claim) == micros
end

-- Moves all owed bonuses to an account, and counts them by meter. The caller has checked that the
-- number in the account does not become too large.
local function move_envy(transfers, claim, owed, to, counted)
  for _, one in ipairs(owed) do
    local meter, cents = one[OWED_METER], one[OWED_CENTS]
    transfer(transfers, 'envy:' .. claim, to, cents * MICROS_PER_CENT, cycle_of(meter))
    tally(counted .. meter, cents)
  end
end

local function decide_envy(key, state, by)
  redis.call('HSET', key, 'envy', state, 'envy_by', by, 'envy_at', AT)
end
