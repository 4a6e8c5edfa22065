-- Returns the other claim that a slip's number paid, or for which a restore keeps the number; nil
-- if the claim `id` can have the number.
local function used_by_other(claim, id, slip)
  local used = redis.call('HGET', SLIPS, slip)
  if not used or used == id then return nil end
  -- A claim that was opened after the restore is another claim, even if it has the same id (duty
  -- D11).
  local kept_for, restored = string.match(used, '^(.+):(%d+)$')
  if kept_for ~= id or tonumber(claim['entry']) > tonumber(restored) then return kept_for or used end
end
