-- The rule of two people (duty D4): `two_people.py` has the argument.

-- Checks whether one person could have done a first act and does this act too. If so, returns the
-- name that did the first act, and the person who set a PIN of both names, '' if both names are the
-- same. Returns nil if the two names count as two people. `first_by` is the name that did the first
-- act. The text `first` has the people who had set a PIN of this name in the 24 hours before. `by`
-- is the name that does this act. `setters` has the people who set a PIN of this second name. It
-- also has everybody who does not count as a second person for this name at present.
local function one_person(first_by, first, by, setters)
  if first_by == by then return first_by, '' end
  local mine = cjson.decode(setters)
  local setter = mine['shared'][first_by]
  for _, name in ipairs(cjson.decode(first)['pin_set_by'] or {}) do
    if name == by then setter = setter or name end
    for _, own in ipairs(mine['own']) do
      if name == own then setter = setter or name end
    end
  end
  if setter then return first_by, setter end
end
