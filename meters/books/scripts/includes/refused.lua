-- The replies to what a script refuses by itself. They are kept whole, since a repeated event gets the
-- reply that it first got, also from a later release that words it otherwise.

--include refusal_texts

local refusals -- read where there is one

-- `holding` are the claims that hold the table, a line each, where the code is `held`.
local function refused_here(code, seq, holding)
  refusals = refusals or cjson.decode(REFUSALS)
  local reply = refusals[code]
  if holding then
    local claims = {}
    for claim in string.gmatch(holding, '{"claim":"([^"]+)"') do claims[#claims + 1] = claim end
    local lines, named = string.gsub(holding, '\n', ','), table.concat(claims, ', ')
    reply = string.gsub(reply, '%[%]', function() return '[' .. lines .. ']' end, 1)
    reply = string.gsub(reply, '%(%)', function() return '(' .. named .. ')' end, 1)
  end
  return '{"seq":' .. exact(seq) .. reply
end
