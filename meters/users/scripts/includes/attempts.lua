-- Each limit of a sign-in attempt has three Redis keys: its failed attempts, its lock and its
-- undecided attempts. These keys are the last in KEYS. If a script needs the values of the limits,
-- these are the last in ARGV, in the same order: the label, the largest number of attempts, the
-- window in ms and the duration of the lock in ms.

local KEYS_PER_COUNTER, ARGS_PER_COUNTER = 3, 4

-- Reads the limits of an attempt. Their keys begin at the given place in KEYS. If `first_arg` is
-- given, their values begin at this place in ARGV.
local function counters_from(first_key, first_arg)
  local counters = {}
  for key = first_key, #KEYS, KEYS_PER_COUNTER do
    local arg = (first_arg or #ARGV + 1) + #counters * ARGS_PER_COUNTER
    counters[#counters + 1] = {
      failed = KEYS[key], lock = KEYS[key + 1], undecided = KEYS[key + 2], label = ARGV[arg],
      most = tonumber(ARGV[arg + 1]), window_ms = tonumber(ARGV[arg + 2]), lock_ms = tonumber(ARGV[arg + 3]),
    }
  end
  return counters
end

-- Returns whether a limit counts everybody, and so slows attempts instead of locking them.
local function slows(counter)
  return counter.label == 'everybody'
end

local function is_of_address(counter)
  return string.sub(counter.label, 1, 8) == 'address:'
end

-- Returns the time of the latest attempt in a sorted set, in ms; 0 if there is none. If the clock was
-- set back, attempts later than now are left out: otherwise nobody could sign in until their time.
local function latest(attempts)
  local _, score = unpack(redis.call('ZREVRANGEBYSCORE', attempts, now_ms(), '-inf', 'WITHSCORES', 'LIMIT', 0, 1))
  return tonumber(score or '0')
end

-- Removes an attempt from the undecided attempts.
local function decide_attempt(counters, attempt)
  for _, counter in ipairs(counters) do
    redis.call('ZREM', counter.undecided, attempt)
  end
end

-- Records the limit at which the sign-in as a user failed, and until when it is locked.
-- Administrators see these records, and can remove them.
local function note_lock(user, locks, label, until_ms)
  if redis.call('EXISTS', user) == 1 then
    redis.call('ZREMRANGEBYSCORE', locks, '-inf', now_ms() - 3600 * 1000)
    redis.call('ZADD', locks, until_ms, label)
    redis.call('PEXPIRE', locks, 24 * 3600 * 1000)
  end
end
