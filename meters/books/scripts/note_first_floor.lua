-- Notes which floor file was approved first in this Redis, and by whom, unless it is noted already.
--
-- KEYS  1 the note
-- ARGV  1 the digest of the floor file, a blank, and the person
-- Output: the note that is there now

local held = redis.call('HGET', KEYS[1], 'noted')
if held then return held end
redis.call('HSET', KEYS[1], 'noted', ARGV[1])
return ARGV[1]
