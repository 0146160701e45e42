-- Each domain's record, and its politeness.
-- uses: meta chunks

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

-- domains: by their names; unpackedDomains: the same, as a list.
local domains, unpackedDomains = {}, {}

-- Over many domains each of them is touched once a call, and what most calls do to it needs little of its record. So
-- records are read as texts (false: there is none) and unpacked when somebody asks for the domain. loaded: names of those
-- that were read together, originals: their texts at that time; the ones that have changed are written as they are.
-- newcomers: entries of such domains that come among the ready ones.
local records, loaded, originals, newcomers = {}, NONE, NONE, {}

-- A domain is a list: one by names costs twice as much to make. PREFIX: its number as the fields of its chunks begin
-- with it; PACKED: what stands behind the core of its record, for as long as POLITENESS is nil; KEY: its order among
-- the ready, STORED_KEY: what stands there; LAST_AT: 6 bytes; GONE: how many entries of its first chunk had gone before;
-- FIRST: that chunk, once read; RUN, RUN_CHUNK: see parts/chunks.lua. Those that begin as nil stand last: Lua makes them nil
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
local function politenessOf(d) -- rarely: unpacked
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

local function delayOf(d) -- rarely: unpacked
  if not hasPoliteness(d) then return number('delay') end
  local p = politenessOf(d)
  local own = p.delaySetting >= 0 and p.delaySetting or number('delay')
  return max(own, p.delayRobots, p.delayAuto)
end

-- When it may be asked again.
local function dueAt(d) -- rarely: unpacked
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
