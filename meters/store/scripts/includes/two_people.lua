-- The rule of two people (duty D4). `two_people.py` explains why the rule holds.

-- Checks whether one person could do both acts of a decision: the first act, which is done, and the
-- present act. `first_by` and `by` are the names under which the first act and the present act are
-- done. If one person could do both, returns `first_by`, and the person who set the PIN of one or
-- both names, or '' if both names are the same. Returns nil if the names count as two people. The
-- text `first` has the people who set a PIN of `first_by` in the 24 hours before the first act.
-- `setters` has the people who set a PIN of `by`, and everybody who now must not be the other
-- person of an act with `by`.
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
