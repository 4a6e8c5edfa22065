-- Removes an attempt that was neither wrong nor used.
-- KEYS: for each limit its attempts, lock and undecided attempts. ARGV: the attempt.

local ATTEMPT = ARGV[1]

--include note
--include tries

decide_try(counters_from(1), ATTEMPT)
return 0
