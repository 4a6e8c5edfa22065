-- Removes a sign-in attempt that neither failed nor opened a session.
-- KEYS: for each limit, its failed attempts, its lock and its undecided attempts. ARGV: the
--       attempt.

local ATTEMPT = ARGV[1]

--include note
--include attempts

decide_attempt(counters_from(1), ATTEMPT)
return 0
