-- Takes back a try that was neither wrong nor used.
-- KEYS: tries, lock and undecided tries of each that it counts against. ARGV: the try.

--include note
--include tries

decide_try(1, ARGV[1])
return 0
