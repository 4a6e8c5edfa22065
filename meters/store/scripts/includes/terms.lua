-- The script changes nothing unless the link's terms are those of ARGV 2.

--include present

local TERMS = ARGV[2]
if (meters['terms'] or '') ~= TERMS then return { 'terms' } end
