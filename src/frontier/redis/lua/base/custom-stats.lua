-- Stats of the user's own code: fields of the HASH `stats` with a prefix. A number is stored as such, a text as JSON, that
-- is with quotes.
--
-- changes: { name, op: inc | set | max | min, value }, where a text is JSON already. As changedStat of stat-change.ts.
local PREFIX = 'custom/'

local function digits(number)
  if number == math.floor(number) and math.abs(number) < 2 ^ 53 then return string.format('%.0f', number + 0) end
  local short = string.format('%.15g', number)
  return tonumber(short) == number and short or string.format('%.17g', number)
end

local function changed(before, op, value)
  local number = tonumber(before)
  if op == 'set' or type(value) == 'string' or not number then return value end
  if op == 'max' then return math.max(number, value) end
  if op == 'min' then return math.min(number, value) end
  local sum = number + value
  return math.abs(sum) < math.huge and sum or number
end

-- A key that somebody overwrote with another type must not keep a page from being committed.
function customStats.apply(crawl, changes)
  local key = crawl.keys.stats
  if not keys.isOf('hash', key) then return end
  for _, change in ipairs(changes) do
    local field = PREFIX .. change.name
    local before = redis.call('HGET', key, field)
    if before or redis.call('HLEN', key) < limits.MAX_STAT_NAMES then
      local value = changed(before, change.op, change.value)
      redis.call('HSET', key, field, type(value) == 'number' and digits(value) or value)
    else
      counters.add(crawl, 'custom_stats/dropped', 1)
    end
  end
end

-- Brings back what a backup holds, as { name with prefix, stored value, … }; a stat that is there stays.
function customStats.restore(crawl, values)
  for i = 1, #values, 2 do redis.call('HSETNX', crawl.keys.stats, values[i], values[i + 1]) end
end
