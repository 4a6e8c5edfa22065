-- Notes something in the operators' log that changes nothing else.
-- KEYS: the log, its head. ARGV: at, what, by, about, client.

--include note

note(KEYS[1], KEYS[2], {at = ARGV[1], what = ARGV[2], by = ARGV[3], about = ARGV[4], client = ARGV[5]})
return 'ok'
