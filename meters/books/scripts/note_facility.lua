-- Notes a link, and which floor file was approved first in this Redis, unless this is noted already.
--
-- KEYS  1 the note
-- ARGV  1 the digest of the floor file, a blank, and the person
--       2 the field of the link
-- Output: the first floor file that is noted now, as in ARGV 1

local NOTE, FIRST, LINK = KEYS[1], ARGV[1], ARGV[2]

local held = redis.call('HGET', NOTE, 'first') or FIRST
redis.call('HSET', NOTE, 'first', held, LINK, '')
return held
