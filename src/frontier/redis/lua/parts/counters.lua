-- The crawl's counters, added up in a script and written once each.

local counters = {}

-- n: a number, or its digits, which stay as they are where nothing else comes to them.
local function addToCounter(name, n)
  local known = counters[name]
  counters[name] = known and known + n or n
end

-- A counter that somebody overwrote with text must not keep a page from being committed. (`%d`: Redis itself takes four
-- times as long to write a number out, and gives it 17 digits at most.)
local function saveCounters()
  for name, n in pairs(counters) do
    redis.pcall('HINCRBY', statsKey, name, type(n) == 'string' and n or string.format('%d', n))
  end
end
