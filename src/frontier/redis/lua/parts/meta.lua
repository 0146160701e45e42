-- The shared record of the run: read by field, changed in memory, written back once.

-- With room for the fields that the verbs of every page read: a table that grows to their number costs four times as
-- much. A field that the verb has not read before (each costs 0.5 µs) is read when somebody asks for it; false: there
-- is none.
local meta, changedMeta = setmetatable({ pending = nil, epoch = nil, control = nil, done = nil, limit = nil, delay = nil, run_pages = nil,
  run_accepted = nil, budgets = nil, closing = nil, queue_limit = nil, dupefilter = nil, volunteer = nil, idle_since = nil, hungry = nil }, {
  __index = function(fields, name)
    fields[name] = call('HGET', metaKey, name)
    return fields[name]
  end,
}), {}

-- Reads the named fields, and how many requests are in the queue; returns an error text when the records are gone or of
-- another format.
local function readMeta(...)
  local values = call('HMGET', metaKey, 'version', 'pending', ...)
  if not values[1] then return 'CRAWLNODE_GONE the records of this crawl are gone' end
  if values[1] ~= FORMAT then return 'CRAWLNODE_FORMAT ' .. values[1] end
  meta.pending = values[2]
  local names = { ... }
  for i = 1, #names do meta[names[i]] = values[i + 2] end
  return nil
end

-- The first to touch a crawl makes its meta; the shape comes with the first node to join. A node that has joined gives
-- no epoch: it makes none, since a meta gone under it means that somebody reset the crawl or flushed the store.
-- crawl: tells this crawl from one of the same name before a reset.
local function createMeta(queue, epoch)
  if epoch == '' or call('EXISTS', metaKey) == 1 then return end
  call('HSET', metaKey, 'version', FORMAT, 'epoch', epoch, 'crawl', epoch, 'queue', queue, 'control', 'running', 'began', nowMs)
end

-- Fields as numbers: each is parsed once.
local numbers = {}

local function number(name, default)
  local value = numbers[name]
  if value then return value end
  value = tonumber(meta[name])
  numbers[name] = value
  return value or default or 0
end

local function setMeta(name, value)
  meta[name], numbers[name], changedMeta[name] = value, nil, value
end

-- Writes the fields that changed.
local function saveMeta()
  local fields = {}
  for name, value in pairs(changedMeta) do
    fields[#fields + 1] = name
    fields[#fields + 1] = type(value) == 'number' and inDigits(value) or value
  end
  if #fields > 0 then call('HSET', metaKey, unpack(fields)) end
end
