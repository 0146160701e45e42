-- The crawl's counters, added up in a script and written once each.

local counters = {}

local function addToCounter(name, n) counters[name] = (counters[name] or 0) + n end

-- A counter that somebody overwrote with text must not keep a page from being committed. (Redis writes a number with 17
-- digits at most.)
local function saveCounters()
  for name, n in pairs(counters) do redis.pcall('HINCRBY', statsKey, name, math.abs(n) < 1e15 and n or string.format('%.0f', n)) end
end
