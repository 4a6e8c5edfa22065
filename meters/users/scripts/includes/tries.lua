-- The limits of a sign-in attempt are the last of the keys: for each its attempts, its lock and its
-- undecided attempts. If a script needs their terms, those are last in ARGV, in the same order: the
-- label, the most attempts, the window and the lock-out in ms.

local KEYS_PER_COUNTER, ARGS_PER_COUNTER = 3, 4

-- Reads the limits of an attempt from the first of their keys and, if there are any, their terms.
local function counters_from(first_key, first_arg)
  local counters = {}
  for key = first_key, #KEYS, KEYS_PER_COUNTER do
    local arg = (first_arg or #ARGV + 1) + #counters * ARGS_PER_COUNTER
    counters[#counters + 1] = {
      tries = KEYS[key], lock = KEYS[key + 1], undecided = KEYS[key + 2], label = ARGV[arg],
      most = tonumber(ARGV[arg + 1]), window_ms = tonumber(ARGV[arg + 2]), lock_ms = tonumber(ARGV[arg + 3]),
    }
  end
  return counters
end

-- Removes an attempt from those that are not decided yet.
local function decide_try(counters, try)
  for _, counter in ipairs(counters) do
    redis.call('ZREM', counter.undecided, try)
  end
end

-- Notes where sign-in as a user failed, and until when it is locked there. Administrators see this,
-- and can remove it.
local function note_lock(user, locks, label, until_ms)
  if redis.call('EXISTS', user) == 1 then
    redis.call('ZREMRANGEBYSCORE', locks, '-inf', now_ms() - 3600 * 1000)
    redis.call('ZADD', locks, until_ms, label)
    redis.call('PEXPIRE', locks, 24 * 3600 * 1000)
  end
end
