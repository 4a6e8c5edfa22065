-- Notes one person's request to reject a win, or to reopen a rejected win, which a second person
-- must confirm (duty D4). A new request replaces the claim's earlier request. The script also
-- withdraws a request, even one that has lapsed.
--
-- KEYS  1 accounts  2 tallies  3 meters  4 ledger  5 waiting  6 wins  7 acts
--       8 the claim
-- ARGV  1 the time, RFC 3339   2 the digest of the link's terms
--       3 act: request_reject, request_reopen or withdraw_request   4 the actor   5 table id
--       6 round id   7 the act as text, for the ledger
--       8 for a withdrawal: the entry of the request; else empty
-- Output, in order of precedence
--   { 'terms' }                       the link's terms are not those of ARGV 2
--   { 'unknown_claim' }
--   { 'no_request' }                  the claim has another request or none
--   { 'wrong_state', state, person }  the claim has another state, set by that person
--   { 'day_closed' }                  the gaming day of the rejection is closed
--   { 'done', entry }

local CLAIM = KEYS[8]
local ACT, BY, TABLE_ID, ROUND, REQUEST, WITHDRAWN = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

--include books
--include requests
--include rejected
--include claim

local withdraws = ACT == 'withdraw_request'
if withdraws then
  if claim['request_entry'] ~= WITHDRAWN then return { 'no_request' } end
elseif claim['state'] ~= (ACT == 'request_reject' and 'pending' or 'rejected') then
  return { 'wrong_state', claim['state'], claim['by'] or '' }
end
if ACT == 'request_reopen' then
  local rejection = returned_amounts(claim)
  if not rejection or not is_of_open_day(rejection) then return { 'day_closed' } end
end

touch_floor()
local entry = note_entry(ACT, BY, TABLE_ID, ROUND, 0, {}, REQUEST, '')
write_books()
if withdraws then
  drop_request(CLAIM)
else
  redis.call('HSET', CLAIM, 'request', REQUEST, 'request_by', BY, 'request_at', AT, 'request_entry', exact(entry))
end
return { 'done', exact(entry) }
