-- The script changes nothing unless the link's terms are those of ARGV 2.

--include present

if (meters['terms'] or '') ~= ARGV[2] then return { 'terms' } end
