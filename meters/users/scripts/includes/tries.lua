-- What a try to sign in counts against comes last among the keys: of each its tries, its lock and its
-- undecided tries.

-- Takes a try back from those that are not decided yet.
local function decide_try(first, try)
  for of = first, #KEYS, 3 do
    redis.call('ZREM', KEYS[of + 2], try)
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
