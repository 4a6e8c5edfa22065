-- The claim that a person acts on.

--include terms

local claim = read_hash(CLAIM)
if not claim['state'] then return { 'unknown_claim' } end
