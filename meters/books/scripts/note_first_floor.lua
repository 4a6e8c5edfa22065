-- Notes which floor file was approved first in this Redis, and by whom, unless it is noted already.
--
-- KEYS  1 the note
-- ARGV  1 the digest of the floor file, a blank, and the person
-- Output: the note that is there now

local NOTE, NOTED = KEYS[1], ARGV[1]

local held = redis.call('HGET', NOTE, 'noted')
if held then return held end
redis.call('HSET', NOTE, 'noted', NOTED)
return NOTED
