-- The replies to events that the script refuses. Redis keeps the whole text of each reply: a
-- repeated event must get its first reply, even from a later release with other texts.

--include refusal_texts

local refusals -- read only if there is a refusal

-- If the code is `held`, `holding` are the claims that hold the table, one on each line.
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
