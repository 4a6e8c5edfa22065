-- Adds an entry to the operators' log for an act that changes nothing else.
-- KEYS: the log, the log's head. ARGV: the time, the act, the actor, the claim or version that the
--       act is about, the actor's network address.

local LOG, HEAD = KEYS[1], KEYS[2]
local AT, WHAT, BY, ABOUT, CLIENT = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--include note

local elsewhere = moved(LOG, HEAD)
if elsewhere then return elsewhere end

note(LOG, HEAD, {at = AT, what = WHAT, by = BY, about = ABOUT, client = CLIENT})
return answered('ok')
