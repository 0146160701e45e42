-- StateDupeFilter: a HASH fingerprint (20 raw bytes) → the last thing that happened to its request (parts/life.lua).
-- uses: agreement raw-marks life

local DUPEFILTER_TYPE = 'hash'

local function seenFlags(marks)
  local flags = {}
  for i, mark in ipairs(marks) do flags[i] = call('HEXISTS', dupefilter, mark) end
  return flags
end

-- delayed: the marks whose requests wait for a time of their own.
local function recordMarks(marks, delayed)
  local pairsToSet = {}
  for _, mark in ipairs(marks) do
    pairsToSet[#pairsToSet + 1] = mark
    pairsToSet[#pairsToSet + 1] = packLife(delayed[mark] and 'delayed' or 'pending', 0, 0)
  end
  chunked('HSET', dupefilter, pairsToSet)
end

local function forgetMark(mark) return call('HDEL', dupefilter, mark) end

local function seenCount() return call('HLEN', dupefilter) end
