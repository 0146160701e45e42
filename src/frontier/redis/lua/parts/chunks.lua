-- The queue of a domain: sorted runs of entries, a chunk a field of one HASH.
--
-- An entry is 32 bytes, order and id. The first chunk of a domain is the field of its number (4 bytes); a further one
-- is number and bound, an order that none of its entries precedes and all of the chunk before it do. Only the further
-- ones are indexed, in a lexical ZSET of their names, so that a domain of a few requests costs one field. A script
-- reads a chunk once and writes it once, however many entries come and go: a page's links of one priority fall into one
-- chunk.
--
-- Measured: an entry takes 48 bytes all told, where a ZSET member of its own takes 144. 15 entries, since twice as many
-- save 8 bytes of these, and cost more with each change: a string of n bytes takes Lua n nanoseconds to make, and the
-- chunk is replicated and appended to the AOF as a whole. So what is taken from a first chunk stays in it until half of
-- it has gone: its domain's record, which is written anyway, says how much.
-- uses: meta

local ENTRY, ORDER, CHUNK, MOST_GONE = 32, 12, 15, 8
-- read: all that were read; following: the further ones, by their names; rewritten: texts of those that were changed
-- without being unpacked (see parts/appending.lua and taking-texts.lua).
local read, following, rewritten, pendingChange = {}, {}, {}, 0

-- A chunk is a list: one by names costs twice as much to make. TEXT: the entries, of which POPPED have gone already;
-- ADDED: those that follow, false for none; a single one, as most often over many domains, is no list.
local NAME, BOUND, TEXT, POPPED, ADDED, SIZE, CHANGED = 1, 2, 3, 4, 5, 6, 7

-- Of two orders, or what begins with them; at: where in b, the beginning unless said otherwise. They are not compared
-- by `<`, which goes by the locale that the server was started under.
local function isBefore(a, b, at)
  local priorityA, arrivalA = decode('>I5I7', a)
  local priorityB, arrivalB = decode('>I5I7', b, at or 1)
  return priorityA < priorityB or (priorityA == priorityB and arrivalA < arrivalB)
end

local function pendingCount() return number('pending') + pendingChange end

local function setText(chunk, text) -- rarely: unpacked
  chunk[TEXT], chunk[POPPED], chunk[ADDED], chunk[SIZE] = text, 0, false, #text / ENTRY
end

-- The last entry of a chunk that has one: a text, and where in it.
local function lastOf(chunk)
  local added, text = chunk[ADDED], chunk[TEXT]
  if added then return type(added) == 'string' and added or added[#added], 1 end
  return text, #text - ENTRY + 1
end

local function keepChunk(d, name, bound, text) -- rarely: unpacked
  local size = #text / ENTRY
  local popped = bound == '' and d[GONE] or 0
  if popped > size then popped = size end
  local chunk = { name, bound, text, popped, false, size - popped, false }
  if bound == '' then d[FIRST] = chunk else following[name] = chunk end
  read[#read + 1] = chunk
  return chunk
end

local function chunkOf(d, bound) -- rarely: unpacked
  local name = d[PREFIX] .. bound
  local chunk
  if bound == '' then chunk = d[FIRST] else chunk = following[name] end
  if chunk then return chunk end
  local text = rewritten[name]
  chunk = keepChunk(d, name, bound, text or not d[IS_NEW] and call('HGET', queueKey, name) or '')
  if text then rewritten[name], chunk[CHANGED] = nil, true end
  return chunk
end

-- The chunks of domains that have these bounds, those that were not read yet all at once; none of a new domain.
local function loadChunks(ds, bounds) -- rarely: unpacked
  local found, names, owners, n = {}, {}, {}, 0
  for i = 1, #ds do
    local d, bound = ds[i], bounds[i]
    local name, chunk = d[PREFIX] .. bound, nil
    if bound == '' then chunk = d[FIRST] else chunk = following[name] end
    if not chunk and rewritten[name] then
      chunk = chunkOf(d, bound)
    elseif not chunk and not d[IS_NEW] then
      n = n + 1
      names[n], owners[n] = name, i
    end
    found[i] = chunk
  end
  local texts = fetched('HMGET', queueKey, names)
  for i = 1, n do
    local owner = owners[i]
    found[owner] = keepChunk(ds[owner], names[i], bounds[owner], texts[i] or '')
  end
  return found
end

-- Reads the chunks of domains where requests that arrive now belong. One of the last one's priority goes right behind
-- it, unless that came from a clock ahead of ours (a repair goes by the nodes' clocks).
local function loadEnds(ds)
  local bounds, lastGiven, isNewestFirst = {}, number('arrival'), meta.queue == 'LifoQueue'
  for i = 1, #ds do bounds[i] = isNewestFirst and '' or ds[i][TAIL] end
  local ends = loadChunks(ds, bounds)
  if isNewestFirst then return end
  for i = 1, #ds do
    local chunk = ends[i]
    if chunk and chunk[SIZE] > 0 then
      local text, at = lastOf(chunk)
      if decode('>I7', text, at + 5) <= lastGiven then ds[i][RUN], ds[i][RUN_CHUNK] = sub(text, at, at + 4), chunk end
    end
  end
end

local function textOf(chunk) -- rarely: unpacked
  local added, popped = chunk[ADDED], chunk[POPPED]
  if popped > 0 or added then
    local rest = popped > 0 and sub(chunk[TEXT], popped * ENTRY + 1) or chunk[TEXT]
    if type(added) == 'table' then added = table.concat(added) end
    setText(chunk, added and rest .. added or rest)
  end
  return chunk[TEXT]
end

-- Where an entry belongs: the last chunk whose bound it does not precede, else the first.
local function chunkFor(d, entry)
  if d[TAIL] == '' or isBefore(entry, d[HEAD]) then return chunkOf(d, '') end
  if not isBefore(entry, d[TAIL]) then return chunkOf(d, d[TAIL]) end
  local names = call('ZREVRANGEBYLEX', chunksKey, '[' .. d[PREFIX] .. sub(entry, 1, ORDER), '[' .. d[PREFIX], 'LIMIT', 0, 1)
  return chunkOf(d, names[1] and sub(names[1], 5) or '')
end

-- How many entries go before this one.
local function placeIn(text, entry)
  local low, high = 0, #text / ENTRY
  while low < high do
    local middle = floor((low + high) / 2)
    if isBefore(entry, text, middle * ENTRY + 1) then high = middle else low = middle + 1 end
  end
  return low
end

-- A new chunk that follows another.
local function follow(d, before, text)
  local bound = sub(text, 1, ORDER)
  local name = d[PREFIX] .. bound
  local chunk = following[name]
  if chunk then setText(chunk, text) else chunk = keepChunk(d, name, bound, text) end
  chunk[CHANGED] = true
  call('ZADD', chunksKey, 0, name)
  if d[TAIL] == before[BOUND] then d[TAIL], d[TOUCHED] = bound, true end
  return chunk
end

-- A full chunk is divided where the newcomer belongs, so that requests that come in order, from either end or between
-- two priorities, leave full chunks behind. One of the same run as the last goes right behind it, unasked.
-- Returns whether it is the domain's last now.
local function insert(d, entry, run)
  local isNext, chunk = run and d[RUN] == run, nil
  if isNext then chunk = d[RUN_CHUNK] else chunk = chunkFor(d, entry) end
  pendingChange = pendingChange + 1
  d[RUN] = false
  if chunk[POPPED] > 0 then d[TOUCHED] = true end
  local size = chunk[SIZE]
  if isNext or size == 0 or not isBefore(entry, lastOf(chunk)) then
    if size >= CHUNK then
      chunk = follow(d, chunk, entry)
    else
      local added = chunk[ADDED]
      if not added then
        chunk[ADDED] = entry
      elseif type(added) == 'string' then
        chunk[ADDED] = { added, entry }
      else
        added[#added + 1] = entry
      end
      chunk[SIZE], chunk[CHANGED] = size + 1, true
    end
    if chunk[BOUND] ~= d[TAIL] then return false end
    d[RUN], d[RUN_CHUNK] = run, chunk
    return true
  end
  local text = textOf(chunk)
  local at = placeIn(text, entry) * ENTRY
  local rest = sub(text, at + 1)
  chunk[CHANGED] = true
  if size < CHUNK then
    setText(chunk, sub(text, 1, at) .. entry .. rest)
  else
    follow(d, chunk, rest)
    setText(chunk, sub(text, 1, at) .. entry)
  end
  return false
end

-- The order of the domain's best request once its first chunk ran out, '' when it has none: the next chunk takes its
-- place.
local function headOf(d, first)
  while first[SIZE] == 0 and d[TAIL] ~= '' do
    local nextPrefix = encode('>I4', decode('>I4', d[PREFIX]) + 1)
    local name = call('ZRANGEBYLEX', chunksKey, '[' .. d[PREFIX], '(' .. nextPrefix, 'LIMIT', 0, 1)[1]
    local bound = name and sub(name, 5) or d[TAIL]
    local chunk = chunkOf(d, bound)
    if name then call('ZREM', chunksKey, name) end
    if bound == d[TAIL] then d[TAIL] = '' end
    setText(first, textOf(chunk))
    setText(chunk, '')
    first[CHANGED], chunk[CHANGED], d[TOUCHED] = true, true, true
  end
  return first[SIZE] > 0 and sub(first[TEXT], 1, ORDER) or ''
end

-- Takes the domain's best request out: its id, false when somebody deleted the chunk.
local function pop(d)
  local first = d[FIRST] or chunkOf(d, '')
  if first[ADDED] then textOf(first) end
  local text, popped, size, id = first[TEXT], first[POPPED], first[SIZE], false
  if size > 0 then
    local from = popped * ENTRY
    id = sub(text, from + ORDER + 1, from + ENTRY)
    popped, size = popped + 1, size - 1
    first[POPPED], first[SIZE] = popped, size
    if size == 0 or popped >= MOST_GONE then first[CHANGED] = true end
    pendingChange = pendingChange - 1
  end
  d[HEAD] = size > 0 and sub(text, popped * ENTRY + 1, popped * ENTRY + ORDER) or headOf(d, first)
  d[TOUCHED], d[RUN] = true, false
  return id
end

-- Those that were unpacked, behind those to be set, `n` values, and to be deleted.
local function saveRead(changed, n, emptied) -- rarely: unpacked
  for i = 1, #read do
    local chunk = read[i]
    if chunk[CHANGED] then
      if chunk[SIZE] == 0 then
        setText(chunk, '')
        emptied[#emptied + 1] = chunk[NAME]
      else
        changed[n + 1], changed[n + 2] = chunk[NAME], textOf(chunk)
        n = n + 2
      end
    end
  end
end

local function saveChunks()
  local changed, emptied, n = {}, {}, 0
  for name, text in pairs(rewritten) do
    if text == '' then
      emptied[#emptied + 1] = name
    else
      changed[n + 1], changed[n + 2] = name, text
      n = n + 2
    end
  end
  if #read > 0 then saveRead(changed, n, emptied) end
  chunked('HSET', queueKey, changed)
  chunked('HDEL', queueKey, emptied)
  if pendingChange ~= 0 then setMeta('pending', pendingCount()) end
end
