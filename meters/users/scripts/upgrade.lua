-- Brings the people's keys from one version of their layout to the next.
-- KEYS: the log, its head, the users. ARGV: the version that they must have, the one that they get;
--       at, by, about; the prefix of users' keys.
-- Gives 'ok', or 'another' where they have another version.

--include note
--include session

if (redis.call('HGET', KEYS[2], 'schema') or '1') ~= ARGV[1] then
  return 'another'
end
if ARGV[1] == '2' then
  -- A PIN that somebody else set serves for a day from version 3 on: from now, since nobody knows when
  -- it was set.
  for _, folded in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    local user = ARGV[6] .. folded
    local kept = redis.call('HMGET', user, 'name', 'pin_by', 'added_by')
    set_by(user, kept[2] or kept[3] or '', kept[1])
  end
end
note(KEYS[1], KEYS[2], {at = ARGV[3], what = 'upgraded', by = ARGV[4], about = ARGV[5], client = ''})
redis.call('HSET', KEYS[2], 'schema', ARGV[2])
return 'ok'
