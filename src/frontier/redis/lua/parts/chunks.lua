-- The queue of a domain: sorted runs of entries, a chunk a field of one HASH.
--
-- An entry is 32 bytes, order and id. The first chunk of a domain is the field of its number (4 bytes); a further one is
-- number and bound, an order that none of its entries precedes and all of the chunk before it do. Only the further ones
-- are indexed, in a lexical ZSET of their names, so that a domain of a few requests costs one field. A script reads a
-- chunk once and writes it once, however many entries come and go: a page's links of one priority fall into one chunk.
--
-- Measured: an entry takes 48 bytes all told, where a ZSET member of its own takes 144. 15 entries, since twice as many
-- save 8 bytes of these, and cost more with each change: a string of n bytes takes Lua n nanoseconds to make, and the
-- chunk is replicated and appended to the AOF as a whole.
-- uses: meta

local ENTRY, ORDER, CHUNK = 32, 12, 15
local chunks, pendingChange = {}, 0

-- Orders are not compared by `<`, which goes by the locale that the server was started under.
local function isBefore(a, b)
  local priorityA, arrivalA = struct.unpack('>I5I7', a)
  local priorityB, arrivalB = struct.unpack('>I5I7', b)
  return priorityA < priorityB or (priorityA == priorityB and arrivalA < arrivalB)
end

local function pendingCount() return number('pending') + pendingChange end

-- text: the entries, of which `taken` have gone already; added: those that follow, false for none; last: the order of
-- the last one.
local function setText(chunk, text)
  chunk.text, chunk.taken, chunk.added, chunk.size, chunk.last = text, 0, false, #text / ENTRY, sub(text, -ENTRY, ORDER - ENTRY - 1)
end

-- All fields at once: a table that grows costs as much again.
local function keepChunk(field, text)
  text = text or ''
  local chunk = { bound = sub(field, 5), text = text, taken = 0, added = false, size = #text / ENTRY, last = sub(text, -ENTRY, ORDER - ENTRY - 1), changed = false }
  chunks[field] = chunk
  return chunk
end

local function chunkOf(d, bound)
  local field = d.prefix .. bound
  return chunks[field] or keepChunk(field, not d.isNew and call('HGET', queueKey, field))
end

-- Reads the chunks of domains where requests that arrive now belong, all at once. One of the last one's priority goes right
-- behind it, unless that came from a clock ahead of ours (a repair goes by the nodes' clocks).
local function loadEnds(ds)
  local fields, loaded, n, lastGiven = {}, {}, 0, number('arrival')
  local isNewestFirst = meta.queue == 'LifoQueue'
  for _, d in ipairs(ds) do
    local field = isNewestFirst and d.prefix or d.prefix .. d.tail
    if not d.isNew and not chunks[field] then
      n = n + 1
      fields[n], loaded[n] = field, d
    end
  end
  for i, text in ipairs(fetched('HMGET', queueKey, fields)) do
    local chunk, d = keepChunk(fields[i], text), loaded[i]
    if not isNewestFirst and chunk.size > 0 and struct.unpack('>I7', chunk.last, 6) <= lastGiven then
      d.run, d.runChunk = sub(chunk.last, 1, 5), chunk
    end
  end
end

local function textOf(chunk)
  local added = chunk.added
  if chunk.taken > 0 or added then
    local rest = chunk.taken > 0 and sub(chunk.text, chunk.taken * ENTRY + 1) or chunk.text
    setText(chunk, added and rest .. (added[2] and table.concat(added) or added[1]) or rest)
  end
  return chunk.text
end

-- Where an order belongs: the last chunk whose bound it does not precede, else the first.
local function chunkFor(d, order)
  if d.tail == '' or isBefore(order, d.head) then return chunkOf(d, '') end
  if not isBefore(order, d.tail) then return chunkOf(d, d.tail) end
  local names = call('ZREVRANGEBYLEX', chunksKey, '[' .. d.prefix .. order, '[' .. d.prefix, 'LIMIT', 0, 1)
  return chunkOf(d, names[1] and sub(names[1], 5) or '')
end

-- How many entries go before an order.
local function placeIn(text, order)
  local low, high = 0, #text / ENTRY
  while low < high do
    local middle = floor((low + high) / 2)
    local from = middle * ENTRY
    if isBefore(order, sub(text, from + 1, from + ORDER)) then high = middle else low = middle + 1 end
  end
  return low
end

-- A new chunk that follows another.
local function follow(d, before, text)
  local bound = sub(text, 1, ORDER)
  keepChunk(d.prefix .. bound, text).changed = true
  call('ZADD', chunksKey, 0, d.prefix .. bound)
  if d.tail == before.bound then
    d.tail = bound
    d.touched = true
  end
  return chunks[d.prefix .. bound]
end

-- A full chunk is divided where the newcomer belongs, so that requests that come in order, from either end or between
-- two priorities, leave full chunks behind. One of the same run as the last goes right behind it, unasked.
-- Returns whether it is the domain's last now.
local function insert(d, order, id, run)
  local entry, chunk = order .. id, nil
  local isNext = run and d.run == run
  if isNext then chunk = d.runChunk else chunk = chunkFor(d, order) end
  pendingChange = pendingChange + 1
  d.run = false
  if isNext or chunk.size == 0 or not isBefore(order, chunk.last) then
    if chunk.size >= CHUNK then
      chunk = follow(d, chunk, entry)
    else
      if chunk.added then chunk.added[#chunk.added + 1] = entry else chunk.added = { entry } end
      chunk.size, chunk.last, chunk.changed = chunk.size + 1, order, true
    end
    if chunk.bound ~= d.tail then return false end
    d.run, d.runChunk = run, chunk
    return true
  end
  local text = textOf(chunk)
  local at = placeIn(text, order) * ENTRY
  local rest = sub(text, at + 1)
  chunk.changed = true
  if chunk.size < CHUNK then
    setText(chunk, sub(text, 1, at) .. entry .. rest)
  else
    follow(d, chunk, rest)
    setText(chunk, sub(text, 1, at) .. entry)
  end
  return false
end

-- The order of the domain's best request, '' when it has none: the next chunk takes the place of a first one that ran out.
local function headOf(d, first)
  while first.size == 0 and d.tail ~= '' do
    local nextPrefix = struct.pack('>I4', struct.unpack('>I4', d.prefix) + 1)
    local name = call('ZRANGEBYLEX', chunksKey, '[' .. d.prefix, '(' .. nextPrefix, 'LIMIT', 0, 1)[1]
    local bound = name and sub(name, 5) or d.tail
    local chunk = chunkOf(d, bound)
    if name then call('ZREM', chunksKey, name) end
    if bound == d.tail then d.tail = '' end
    setText(first, textOf(chunk))
    setText(chunk, '')
    first.changed, chunk.changed, d.touched = true, true, true
  end
  if first.size == 0 then return '' end
  local from = first.taken * ENTRY
  if from < #first.text then return sub(first.text, from + 1, from + ORDER) end
  return sub(first.added[1], 1, ORDER)
end

-- Takes the domain's best request out: its id, false when somebody deleted the chunk.
local function pop(d)
  local first = chunkOf(d, '')
  if first.added then textOf(first) end
  local id = false
  if first.size > 0 then
    local from = first.taken * ENTRY
    id = sub(first.text, from + ORDER + 1, from + ENTRY)
    first.taken, first.size, first.changed = first.taken + 1, first.size - 1, true
    pendingChange = pendingChange - 1
  end
  d.head, d.touched, d.run = headOf(d, first), true, false
  return id
end

local function saveChunks()
  local changed, emptied, n = {}, {}, 0
  for field, chunk in pairs(chunks) do
    if chunk.changed then
      if chunk.size == 0 then
        emptied[#emptied + 1] = field
      else
        changed[n + 1], changed[n + 2] = field, textOf(chunk)
        n = n + 2
      end
    end
  end
  chunked('HSET', queueKey, changed)
  chunked('HDEL', queueKey, emptied)
  if pendingChange ~= 0 then setMeta('pending', pendingCount()) end
end
