-- Politeness: each domain's record, its delay, and the one place it stands in.
-- uses: meta chunks counters

-- Record: number (4 bytes), place (1), active leases (4), order of its best request and bound of its last chunk (12 each,
-- zeros for none and for the first), then, unless nothing of it was ever set, 6 bytes each: nextAt, blockedUntil, delay by
-- setting + 1 (0: the crawl's), by robots, by autothrottle, last lease at.
-- place: r ready, w waiting, f full, i idle. (MessagePack took twice as long to write and to read.)
local CORE, CORE_BYTES, POLITENESS = '>c4c1I4c12c12', 33, '>I6I6I6I6I6I6'
local NO_ORDER = '\0\0\0\0\0\0\0\0\0\0\0\0'

-- isUnplaced: a domain has been moved or placed, and savePlaces has not told the store.
local domains, isUnplaced = {}, false

-- A domain: prefix, its number as the fields of its chunks begin with it; key: its order among the ready, storedKey: what
-- stands there; politeness, false as long as it lies in `packed`. All fields are given at once: a table that grows costs as
-- much again, and one of more than 16 twice as much.
local function makeDomain(prefix, place, active, head, tail, packed, isNew)
  local key = place == 'r' and head or ''
  return { prefix = prefix, place = place, active = active, head = head, tail = tail, key = key, storedKey = key, storedWaits = place == 'w',
    waitsUntil = false, touched = false, moved = false, politeness = false, packed = packed, isNew = isNew, run = false, runChunk = false }
end

local function unpackDomain(packed)
  local prefix, place, active, head, tail = struct.unpack(CORE, packed)
  if head == NO_ORDER then head = '' end
  if tail == NO_ORDER then tail = '' end
  return makeDomain(prefix, place, active, head, tail, sub(packed, CORE_BYTES + 1), false)
end

local function newDomain()
  local last = number('domain_numbers') + 1
  setMeta('domain_numbers', last)
  return makeDomain(struct.pack('>I4', last), 'i', 0, '', '', '', true)
end

local function domainOf(name)
  local d = domains[name]
  if d then return d end
  local packed = call('HGET', domainsKey, name)
  d = packed and unpackDomain(packed) or newDomain()
  domains[name] = d
  return d
end

-- Reads the records of domains that a script is about to ask for, all at once.
local function loadDomains(names)
  local wanted, n = {}, 0
  for _, name in ipairs(names) do
    if domains[name] == nil then
      domains[name], n = false, n + 1
      wanted[n] = name
    end
  end
  for i, packed in ipairs(fetched('HMGET', domainsKey, wanted)) do domains[wanted[i]] = packed and unpackDomain(packed) or newDomain() end
end

local NEVER_SET = { nextAt = 0, blockedUntil = 0, delaySetting = -1, delayRobots = 0, delayAuto = 0, lastAt = 0 }

-- What it has come to know of when and how often it may be asked, to be read.
local function politenessOf(d)
  local p = d.politeness
  if p then return p end
  if d.packed == '' then return NEVER_SET end
  local nextAt, blockedUntil, delaySetting, delayRobots, delayAuto, lastAt = struct.unpack(POLITENESS, d.packed)
  -- An instant further away than a day is a clock that jumped (a failover): it must block nothing.
  local latest = nowMs + 86400000
  p = { nextAt = math.min(nextAt, latest), blockedUntil = math.min(blockedUntil, latest), delaySetting = delaySetting - 1, delayRobots = delayRobots,
    delayAuto = delayAuto, lastAt = math.min(lastAt, nowMs) }
  d.politeness = p
  return p
end

-- The same, to be changed.
local function itsPoliteness(d)
  if politenessOf(d) == NEVER_SET then
    d.politeness = { nextAt = 0, blockedUntil = 0, delaySetting = -1, delayRobots = 0, delayAuto = 0, lastAt = 0 }
  end
  d.touched = true
  return d.politeness
end

local function hasOwnDelay(p) return p.delaySetting >= 0 or p.delayRobots > 0 or p.delayAuto > 0 end

local function delayOf(p)
  local own = p.delaySetting >= 0 and p.delaySetting or number('delay')
  return math.max(own, p.delayRobots, p.delayAuto)
end

-- When it may be asked again. Most crawls have no delay: then the rest is not looked at.
local function dueAt(d)
  if not d.politeness and (d.packed == '' or sub(d.packed, 1, ORDER) == NO_ORDER) then return 0 end
  local p = politenessOf(d)
  return math.max(p.nextAt, p.blockedUntil)
end

local function packDomain(d)
  local core, p = struct.pack(CORE, d.prefix, d.place, d.active, d.head == '' and NO_ORDER or d.head, d.tail == '' and NO_ORDER or d.tail), d.politeness
  if not p then return core .. d.packed end
  if p.nextAt == 0 and p.blockedUntil == 0 and p.lastAt == 0 and not hasOwnDelay(p) then return core end
  return core .. struct.pack(POLITENESS, p.nextAt, p.blockedUntil, p.delaySetting + 1, p.delayRobots, p.delayAuto, p.lastAt)
end

-- Its head or its leases have changed: savePlaces finds its place once all has happened.
local function move(d) d.moved, isUnplaced = true, true end

-- Puts a domain where it belongs; savePlaces tells the store.
local function place(d)
  d.touched, d.moved, d.key, isUnplaced = true, false, '', true
  local at = dueAt(d)
  local hasWork = d.head ~= ''
  if hasWork and d.active >= number('limit', 8) then
    d.place = 'f'
  elseif at > nowMs then
    d.place, d.waitsUntil = 'w', at
  elseif hasWork then
    d.place, d.key = 'r', d.head
  else
    d.place = 'i'
  end
end

-- Places what changed, and writes who is ready and who waits.
local function savePlaces()
  if not isUnplaced then return end
  local readyOut, readyIn, waitingOut, waitingIn = {}, {}, {}, {}
  for name, d in pairs(domains) do
    if d.moved then place(d) end
    if d.key ~= d.storedKey then
      if d.storedKey ~= '' then readyOut[#readyOut + 1] = d.storedKey .. name end
      if d.key ~= '' then
        readyIn[#readyIn + 1] = '0'
        readyIn[#readyIn + 1] = d.key .. name
      end
      d.storedKey = d.key
    end
    if d.place == 'w' and d.waitsUntil then
      waitingIn[#waitingIn + 1] = d.waitsUntil
      waitingIn[#waitingIn + 1] = name
    elseif d.place ~= 'w' and d.storedWaits then
      waitingOut[#waitingOut + 1] = name
    end
    d.storedWaits, d.waitsUntil = d.place == 'w', false
  end
  isUnplaced = false
  chunked('ZREM', readyKey, readyOut)
  chunked('ZADD', readyKey, readyIn)
  chunked('ZREM', waitingKey, waitingOut)
  chunked('ZADD', waitingKey, waitingIn)
end

-- Nothing waits for it and nothing is to be remembered. With a delay of its own forgetting it would forget the politeness.
local function isGone(d) return d.place == 'i' and d.active == 0 and not hasOwnDelay(politenessOf(d)) end

-- Writes what the script changed, meta included; every verb that may change a domain ends with it.
local function flush()
  savePlaces()
  saveChunks()
  saveCounters()
  local pairsToSet, toDelete = {}, {}
  for name, d in pairs(domains) do
    if d.touched then
      if isGone(d) then
        toDelete[#toDelete + 1] = name
      else
        pairsToSet[#pairsToSet + 1] = name
        pairsToSet[#pairsToSet + 1] = packDomain(d)
      end
    end
  end
  chunked('HSET', domainsKey, pairsToSet)
  chunked('HDEL', domainsKey, toDelete)
  saveMeta()
end
