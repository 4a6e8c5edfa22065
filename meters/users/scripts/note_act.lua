-- Notes an act in the operators' log that changes nothing else.
-- KEYS: the log, its head. ARGV: at, what, by, about, client.

local LOG, HEAD = KEYS[1], KEYS[2]
local AT, WHAT, BY, ABOUT, CLIENT = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--include note

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

note(LOG, HEAD, {at = AT, what = WHAT, by = BY, about = ABOUT, client = CLIENT})
return answered('ok')
