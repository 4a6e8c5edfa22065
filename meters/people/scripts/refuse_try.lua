-- Records that a try failed, and locks out the name or the address that has failed too often.
-- KEYS: tries and lock of the name, tries and lock of the address, the log.
-- ARGV: the lock-out in ms, the most tries by name, by address; at, about, client.
-- Gives 0, or how long it is now locked out, in ms.

local wait = 0
local entry = {at = ARGV[4], what = 'sign_in_refused', by = '', about = ARGV[5], client = ARGV[6]}
note(KEYS[5], entry)
for at, key in ipairs({KEYS[1], KEYS[3]}) do
  if redis.call('ZCARD', key) >= tonumber(ARGV[1 + at]) then
    redis.call('SET', KEYS[2 * at], '1', 'PX', ARGV[1])
    redis.call('DEL', key)
    entry.what = 'locked_out'
    entry.about = at == 1 and ARGV[5] or ''
    note(KEYS[5], entry)
    wait = tonumber(ARGV[1])
  end
end
return wait
