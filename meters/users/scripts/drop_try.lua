-- Takes back a try that was neither wrong nor used.
-- KEYS: tries, lock and undecided tries of each that it counts against. ARGV: the try.

local ATTEMPT = ARGV[1]

--include note
--include tries

decide_try(counters_from(1), ATTEMPT)
return 0
