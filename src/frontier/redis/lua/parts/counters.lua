-- The crawl's counters, added up in a script and written once each.

local counters = {}

local function addToCounter(name, n)
  local known = counters[name]
  counters[name] = known and known + n or n
end

-- A counter that somebody overwrote with text must not keep a page from being committed.
local function saveCounters() -- rarely: links
  for name, n in pairs(counters) do redis.pcall('HINCRBY', statsKey, name, inDigits(n)) end
end

-- At once what comes to several, numbers or their digits, which stay as they are where nothing else has come to them.
local function saveSums(names, sums)
  for i = 1, #names do
    local name, n = names[i], sums[i]
    local known = counters[name]
    if known then n, counters[name] = n + known, nil end
    if n ~= 0 and n ~= '0' then redis.pcall('HINCRBY', statsKey, name, type(n) == 'string' and n or inDigits(n)) end
  end
end
