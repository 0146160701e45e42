-- A restore that is under way: meta's `restoring` is its id, `restored` the number of the last entry applied.
-- uses: meta guards

-- ARGV of every verb that applies an entry: 4 id of the restore · 5 number of the entry · then its own. Such a verb
-- returns 1, 0 for an entry that was applied by a call whose reply was lost, -1 when this restore is not under way.
local RESTORE_FIELDS = { 'restoring', 'restored', 'accepted' }

-- Whether the entry is to be applied; else what to return.
local function beginEntry()
  if meta.restoring ~= ARGV[4] then return false, -1 end
  if number('restored') >= tonumber(ARGV[5]) then return false, 0 end
  unlessFull()
  setMeta('restored', ARGV[5])
  return true
end

local function isLiveRequest(id) return call('HEXISTS', requests, id) == 1 or call('ZSCORE', failedKey, id) end
