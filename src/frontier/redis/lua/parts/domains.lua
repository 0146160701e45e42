-- Politeness: each domain's record, its delay, and the one place it stands in.
-- uses: meta chunks counters

-- Record: active leases (4 bytes), place (1), order of its best request (12, zeros for none), last lease at (6), how
-- many entries of its first chunk have gone (1), number (4), bound of its last chunk (12, zeros for the first); then,
-- unless nothing of it was ever set, 6 bytes each: nextAt, blockedUntil, delay by setting + 1 (0: the crawl's), by
-- robots, by autothrottle. Number and bound stand together, as in the name of the chunk; active leases first, as they
-- change alone.
-- In numbers order and bound are priority and arrival; an arrival of 0 is none.
-- place: r ready, w waiting, f full, i idle. (MessagePack took twice as long to write and to read.)
local CORE, CORE_IN_NUMBERS, CORE_BYTES, POLITENESS_FORMAT = '>I4c1c12c6I1c4c12', '>I4I1I5I7I6I1I4I5I7', 40, '>I6I6I6I6I6'
local PLACE_AT, GONE_AT, NUMBER_AT, TAIL_AT = 5, 24, 25, 29
local READY, FULL = 114, 102
local NO_ORDER, NEVER = '\0\0\0\0\0\0\0\0\0\0\0\0', '\0\0\0\0\0\0'

-- domains: by their names; unpackedDomains: the same, as a list; isUnplaced: a domain has been moved or placed, and
-- savePlaces has not told the store.
local domains, unpackedDomains, isUnplaced = {}, {}, false

-- Over many domains each of them is touched once a call, and what most calls do to it needs little of its record. So
-- records are read as texts (false: there is none) and unpacked when somebody asks for the domain. loaded: names of those
-- that were read together, originals: their texts at that time; the ones that have changed are written as they are.
-- newcomers: entries of such domains that come among the ready ones.
local records, loaded, originals, newcomers = {}, NONE, NONE, {}

-- A domain is a list: one by names costs twice as much to make. PREFIX: its number as the fields of its chunks begin
-- with it; PACKED: what stands behind the core of its record, for as long as POLITENESS is nil; KEY: its order among
-- the ready,
-- STORED_KEY: what stands there; LAST_AT: 6 bytes; GONE: how many entries of its first chunk had gone before; FIRST:
-- that chunk, once read; RUN, RUN_CHUNK: see parts/chunks.lua. Those that begin as nil stand last: Lua makes them nil
-- in one step.
local PREFIX, PLACE, ACTIVE, HEAD, TAIL, LAST_AT, PACKED, GONE, KEY, STORED_KEY, STORED_WAITS, IS_NEW, DOMAIN_NAME = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
local POLITENESS, WAITS_UNTIL, TOUCHED, MOVED, FIRST, RUN, RUN_CHUNK = 14, 15, 16, 17, 18, 19, 20

local function unpackDomain(name, packed)
  local active, place, head, lastAt, gone, prefix, tail = decode(CORE, packed)
  if head == NO_ORDER then head = '' end
  if tail == NO_ORDER then tail = '' end
  local key = place == 'r' and head or ''
  return { prefix, place, active, head, tail, lastAt, #packed > CORE_BYTES and sub(packed, CORE_BYTES + 1) or '', gone, key, key, place == 'w', false,
    name, nil, nil, nil, nil, nil, nil, nil }
end

local function newDomain(name)
  local last = number('domain_numbers') + 1
  setMeta('domain_numbers', last)
  return { encode('>I4', last), 'i', 0, '', '', NEVER, '', 0, '', '', false, true, name, nil, nil, nil, nil, nil, nil, nil }
end

local function domainOf(name) -- rarely: unpacked
  local d = domains[name]
  if d then return d end
  local packed = records[name]
  if packed == nil then packed = call('HGET', domainsKey, name) end
  d = packed and unpackDomain(name, packed) or newDomain(name)
  domains[name] = d
  unpackedDomains[#unpackedDomains + 1] = d
  return d
end

-- Reads the records of domains that a script is about to ask for, all at once. areUnique: no name comes twice, and the
-- list stays as it is.
local function loadDomains(names, areUnique)
  local records, domains, before = records, domains, #loaded
  local n = before
  if areUnique and n == 0 and #unpackedDomains == 0 then
    loaded, n = names, #names
  else
    if n == 0 then loaded = roomFor(#names) end
    local loaded = loaded
    for i = 1, #names do
      local name = names[i]
      if records[name] == nil and not domains[name] then
        records[name], n = false, n + 1
        loaded[n] = name
      end
    end
  end
  local found = fetched('HMGET', domainsKey, loaded, before + 1)
  if before == 0 then originals = found else
    for i = before + 1, n do originals[i] = found[i - before] end
  end
  local loaded, originals = loaded, originals
  for i = before + 1, n do records[loaded[i]] = originals[i] end
end

-- Of most domains nothing was ever set.
local function hasPoliteness(d) -- rarely: unpacked
  return d[POLITENESS] or d[PACKED] ~= ''
end

-- What one has come to know of when and how often it may be asked, where it has.
local function politenessOf(d)
  local p = d[POLITENESS]
  if p then return p end
  local nextAt, blockedUntil, delaySetting, delayRobots, delayAuto = decode(POLITENESS_FORMAT, d[PACKED])
  -- An instant further away than a day is a clock that jumped (a failover): it must block nothing.
  local latest = nowMs + 86400000
  p = { nextAt = min(nextAt, latest), blockedUntil = min(blockedUntil, latest), delaySetting = delaySetting - 1, delayRobots = delayRobots,
    delayAuto = delayAuto }
  d[POLITENESS] = p
  return p
end

-- The same, to be changed.
local function itsPoliteness(d)
  if not hasPoliteness(d) then d[POLITENESS] = { nextAt = 0, blockedUntil = 0, delaySetting = -1, delayRobots = 0, delayAuto = 0 } end
  d[TOUCHED] = true
  return politenessOf(d)
end

local function hasOwnDelay(p) return p.delaySetting >= 0 or p.delayRobots > 0 or p.delayAuto > 0 end

local function delayOf(d)
  if not hasPoliteness(d) then return number('delay') end
  local p = politenessOf(d)
  local own = p.delaySetting >= 0 and p.delaySetting or number('delay')
  return max(own, p.delayRobots, p.delayAuto)
end

-- When it may be asked again.
local function dueAt(d)
  if not hasPoliteness(d) then return 0 end
  local p = politenessOf(d)
  return max(p.nextAt, p.blockedUntil)
end

-- Numbers as 4 bytes, as most domains of a call have equally many leases; joined, texts take a third of what packing
-- takes.
local fourBytes = {}

local function inFourBytes(n)
  local text = fourBytes[n]
  if not text then
    text = encode('>I4', n)
    fourBytes[n] = text
  end
  return text
end

local function packDomain(d)
  local head, tail, first, p = d[HEAD], d[TAIL], d[FIRST], d[POLITENESS]
  local core = inFourBytes(d[ACTIVE]) .. d[PLACE] .. (head == '' and NO_ORDER or head) .. d[LAST_AT] ..
    char(first and first[POPPED] or d[GONE]) .. d[PREFIX] .. (tail == '' and NO_ORDER or tail)
  if not p then return core .. d[PACKED] end
  if p.nextAt == 0 and p.blockedUntil == 0 and not hasOwnDelay(p) then return core end
  return core .. encode(POLITENESS_FORMAT, p.nextAt, p.blockedUntil, p.delaySetting + 1, p.delayRobots, p.delayAuto)
end

-- Its head or its leases have changed: savePlaces finds its place once all has happened.
local function move(d) -- rarely: unpacked
  d[MOVED], isUnplaced = true, true
end

-- Puts a domain where it belongs; savePlaces tells the store.
local function placeDomain(d)
  d[TOUCHED], d[MOVED], d[KEY], isUnplaced = true, false, '', true
  local at, head = dueAt(d), d[HEAD]
  if head ~= '' and d[ACTIVE] >= number('limit', 8) then
    d[PLACE] = 'f'
  elseif at > nowMs then
    d[PLACE], d[WAITS_UNTIL] = 'w', at
  elseif head ~= '' then
    d[PLACE], d[KEY] = 'r', head
  else
    d[PLACE] = 'i'
  end
end

local function releaseUnpacked(d) -- rarely: unpacked
  d[ACTIVE] = max(0, d[ACTIVE] - 1)
  move(d)
end

-- Of each one lease has ended. One that is ready stays so, whatever its other leases: of its record a number changes,
-- and as most have equally many leases, what the record begins with is made once.
local function releaseAll(names)
  local beginnings = {}
  for i = 1, #names do
    local name = names[i]
    local packed = not domains[name] and records[name]
    local beginning = packed and sub(packed, 1, PLACE_AT)
    local after = beginning and beginnings[beginning]
    if packed and not after then
      local active, letter = decode('>I4I1', packed)
      after = letter == READY and inFourBytes(active > 0 and active - 1 or 0) .. 'r'
      beginnings[beginning] = after
    end
    if after then records[name] = after .. sub(packed, PLACE_AT + 1) else releaseUnpacked(domainOf(name)) end
  end
end

-- Of the domains that are unpacked.
local function saveUnplaced() -- rarely: unpacked
  local readyOut, readyIn, waitingOut, waitingIn, out, n = {}, {}, {}, {}, 0, 0
  for i = 1, #unpackedDomains do
    local d = unpackedDomains[i]
    if d[MOVED] then placeDomain(d) end
    local key, storedKey, name = d[KEY], d[STORED_KEY], d[DOMAIN_NAME]
    if key ~= storedKey then
      if storedKey ~= '' then
        out = out + 1
        readyOut[out] = storedKey .. name
      end
      if key ~= '' then
        readyIn[n + 1], readyIn[n + 2] = '0', key .. name
        n = n + 2
      end
      d[STORED_KEY] = key
    end
    local waits = d[PLACE] == 'w'
    if waits and d[WAITS_UNTIL] then
      waitingIn[#waitingIn + 1] = d[WAITS_UNTIL]
      waitingIn[#waitingIn + 1] = name
    elseif not waits and d[STORED_WAITS] then
      waitingOut[#waitingOut + 1] = name
    end
    d[STORED_WAITS], d[WAITS_UNTIL] = waits, nil
  end
  isUnplaced = false
  chunked('ZREM', readyKey, readyOut)
  chunked('ZADD', readyKey, readyIn)
  chunked('ZREM', waitingKey, waitingOut)
  chunked('ZADD', waitingKey, waitingIn)
end

-- Places what changed, and writes who is ready and who waits.
local function savePlaces()
  if #newcomers > 0 then
    chunked('ZADD', readyKey, newcomers)
    newcomers = {}
  end
  if isUnplaced then saveUnplaced() end
end

-- Nothing waits for it and nothing is to be remembered. With a delay of its own forgetting it would forget the
-- politeness.
local function isGone(d) return d[PLACE] == 'i' and d[ACTIVE] == 0 and not (hasPoliteness(d) and hasOwnDelay(politenessOf(d))) end

-- The records of domains that are unpacked, behind those to be set, `n` values, if any. Returns all of them.
local function packUnpacked(pairsToSet, n) -- rarely: unpacked
  if n == 0 then pairsToSet = {} end
  local toDelete = {}
  -- What was changed before it was unpacked.
  for i = 1, #loaded do
    local d = domains[loaded[i]]
    if d and records[loaded[i]] ~= originals[i] then d[TOUCHED] = true end
  end
  for i = 1, #unpackedDomains do
    local d = unpackedDomains[i]
    if d[TOUCHED] then
      if isGone(d) then
        toDelete[#toDelete + 1] = d[DOMAIN_NAME]
      else
        pairsToSet[n + 1], pairsToSet[n + 2] = d[DOMAIN_NAME], packDomain(d)
        n = n + 2
      end
    end
  end
  chunked('HDEL', domainsKey, toDelete)
  return pairsToSet
end

-- Writes what the script changed, meta included; every verb that may change a domain ends with it. Chunks go before
-- their domains, which say what has gone of them.
local function flush()
  savePlaces()
  saveChunks()
  if next(counters) then saveCounters() end
  local pairsToSet, n, loaded, originals, records = NONE, 0, loaded, originals, records
  for i = 1, #loaded do
    local name = loaded[i]
    local packed = records[name]
    if packed ~= originals[i] and not domains[name] then
      if n == 0 then pairsToSet = roomFor(2 * (#loaded - i + 1)) end
      pairsToSet[n + 1], pairsToSet[n + 2] = name, packed
      n = n + 2
    end
  end
  if #unpackedDomains > 0 then pairsToSet = packUnpacked(pairsToSet, n) end
  chunked('HSET', domainsKey, pairsToSet)
  saveMeta()
end
