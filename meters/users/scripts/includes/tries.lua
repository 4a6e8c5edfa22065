-- What a try to sign in counts against comes last among the keys: of each its tries, its lock and its
-- undecided tries. Where a script needs its terms, they come last in ARGV, in the same order: its
-- label, the most tries, the window and the lock-out in ms.

local KEYS_PER_COUNTER, ARGS_PER_COUNTER = 3, 4

-- Reads what a try counts against from the first of its keys and, where there are any, of its terms.
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

-- Takes a try back from those that are not decided yet.
local function decide_try(counters, try)
  for _, counter in ipairs(counters) do
    redis.call('ZREM', counter.undecided, try)
  end
end

-- Notes where signing in as a user failed, and until when it is locked there, which is what
-- administrators see, and lift.
local function note_lock(user, locks, label, until_ms)
  if redis.call('EXISTS', user) == 1 then
    redis.call('ZREMRANGEBYSCORE', locks, '-inf', now_ms() - 3600 * 1000)
    redis.call('ZADD', locks, until_ms, label)
    redis.call('PEXPIRE', locks, 24 * 3600 * 1000)
  end
end
