-- The rule of two people (duty D4): `two_people.py` has the argument.

-- Finds whether a first act and this one may be one person's: gives the name that did the first act
-- and who set a PIN of both, '' where it is one name. Gives nil where they are two people.
-- `first_by` did the first act, kept as the text `first` with those who had set their PIN in the
-- 24 hours before; `by` does this one, and `setters` is the same of them, and with whom they do not
-- count as two people at present.
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
