-- The one reader of what a crawl has stored as packed bytes, MessagePack, JSON or numbers. Others can write to the store, so a
-- value may be anything: what no verb has written reads as nil. So it never ends a verb in its middle.
local LARGEST = 9007199254740991

local function ifRead(isRead, ...)
  if isRead then return ... end
end

local function ifTable(isRead, value) return isRead and type(value) == 'table' and value or nil end

-- The values of packed bytes; nothing where there are too few.
function reader.unpack(format, bytes) return ifRead(pcall(struct.unpack, format, bytes)) end

function reader.map(bytes) return ifTable(pcall(cmsgpack.unpack, bytes)) end

function reader.json(text) return ifTable(pcall(cjson.decode, text)) end

-- A number that a double holds exactly, and not below 0: no other is stored.
function reader.number(text)
  local number = tonumber(text)
  return number and number >= 0 and number <= LARGEST and number or nil
end

-- Whether all fields of a table are of these types, by name, and its numbers finite.
function reader.hasFields(record, types)
  for name, value in pairs(record) do
    if type(value) ~= types[name] or (types[name] == 'number' and not (math.abs(value) <= LARGEST)) then return false end
  end
  return true
end

-- Whether it has all these fields, and no other.
function reader.hasAll(record, types)
  for name in pairs(types) do
    if record[name] == nil then return false end
  end
  return reader.hasFields(record, types)
end

-- HINCRBY. A field that holds no number counts as 0.
function reader.add(key, field, amount)
  local sum = redis.pcall('HINCRBY', key, field, lists.digits(amount))
  if type(sum) == 'number' then return sum end
  redis.call('HSET', key, field, lists.digits(amount))
  return amount
end

-- Counts entries that could not be read, and were removed or made anew.
function reader.noteUnreadable(crawl, count) counters.add(crawl, 'store/unreadable', count) end
