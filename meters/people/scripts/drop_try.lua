-- Takes back a try that was neither wrong nor used.
-- KEYS: tries, lock and undecided tries of the name, the same of the address. ARGV: the try.

redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[6], ARGV[1])
return 0
