-- Brings the people's keys from one version of their layout to the next.
-- KEYS: the log, its head. ARGV: the version that they must have, the one that they get; at, by, about.
-- Gives 'ok', or 'another' where they have another version.

if (redis.call('HGET', KEYS[2], 'schema') or '1') ~= ARGV[1] then
  return 'another'
end
note(KEYS[1], KEYS[2], {at = ARGV[3], what = 'upgraded', by = ARGV[4], about = ARGV[5], client = ''})
redis.call('HSET', KEYS[2], 'schema', ARGV[2])
return 'ok'
