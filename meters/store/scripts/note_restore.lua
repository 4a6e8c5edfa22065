-- Writes a ledger entry that a link's data was restored, and from which sources (duty D17).
-- Displays ignore a meter's value if they have received a higher version number. The restored data
-- can have lower numbers. So each meter's version number is raised above all that displays can have
-- received. The slip numbers that the restore keeps are stored in the link's data, each with its
-- claim and the number of this entry (`slip_register.py`).
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 slips
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms   3 the actor
--       4 the restore as text, for the ledger   5 the number by which the versions rise
-- Output, in order of precedence
--   { 'terms' }          the link's terms are not those of ARGV 2
--   { 'done', entry }

local SLIPS = KEYS[8]
local BY, RESTORE, VERSIONS_ADDED = ARGV[3], ARGV[4], ARGV[5]

--include books
--include terms

local kept = cjson.decode(RESTORE)['kept'] -- a text that cannot be read fails before any write

for field in pairs(meters) do
  if string.sub(field, 1, 6) == 'terms:' then
    local version = 'version:' .. string.sub(field, 7)
    set_meter(version, count_of(meters, version) + tonumber(VERSIONS_ADDED))
    touch_meter(string.sub(field, 7))
  end
end
touch_floor()
local entry = note_entry('restore', BY, '', '', 0, {}, RESTORE, '')
write_books()
for slip, claim in pairs(kept) do
  redis.call('HSET', SLIPS, slip, claim .. ':' .. exact(entry))
end
return { 'done', exact(entry) }
