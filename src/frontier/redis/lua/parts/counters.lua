-- The crawl's counters, added up in a script and written once each.

local counters = {}

local function addToCounter(name, n) counters[name] = (counters[name] or 0) + n end

-- A counter that somebody overwrote with text must not keep a page from being committed. (`%d`: Redis itself takes four times
-- as long to write a number out, and gives it 17 digits at most.)
local function saveCounters()
  for name, n in pairs(counters) do redis.pcall('HINCRBY', statsKey, name, string.format('%d', n)) end
end
