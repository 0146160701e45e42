-- Politeness: each domain's record, its delay, and the one place it stands in.
-- uses: meta chunks counters

-- Record: number (4 bytes), place (1), active leases (4), order of its best request and bound of its last chunk (12 each,
-- zeros for none and for the first), then, unless nothing of it was ever set, 6 bytes each: nextAt, blockedUntil, delay by
-- setting + 1 (0: the crawl's), by robots, by autothrottle, pages, last lease at.
-- place: r ready, w waiting, f full, i idle. (MessagePack took twice as long to write and to read.)
local RECORD = { core = '>I4c1I4c12c12', coreBytes = 33, rest = '>I6I6I6I6I6I6I6', none = string.rep('\0', 12) }

local domains, packedDomains = {}, {}

-- Reads the records of domains that a script is about to ask for, all at once.
local function loadDomains(names)
  local wanted = {}
  for _, name in ipairs(names) do
    if not domains[name] and packedDomains[name] == nil then
      packedDomains[name] = false
      wanted[#wanted + 1] = name
    end
  end
  for i, packed in ipairs(fetched('HMGET', domainsKey, wanted)) do packedDomains[wanted[i]] = packed end
end

-- The fields of a table are given all at once: one that grows costs as much again.
local function unpackCore(packed)
  local number, place, active, head, tail = struct.unpack(RECORD.core, packed)
  if head == RECORD.none then head = '' end
  if tail == RECORD.none then tail = '' end
  local key = place == 'r' and head or ''
  return { number = number, prefix = struct.pack('>I4', number), place = place, active = active, head = head, tail = tail, key = key, storedKey = key,
    storedWaits = place == 'w', touched = false, moved = false, rest = sub(packed, RECORD.coreBytes + 1) }
end

local function newDomain()
  local last = number('domain_numbers') + 1
  setMeta('domain_numbers', last)
  return { number = last, prefix = struct.pack('>I4', last), isNew = true, place = 'i', active = 0, head = '', tail = '', key = '', storedKey = '',
    storedWaits = false, touched = false, moved = false, rest = '' }
end

-- A domain as its queue needs it: one that goes on unplaced is not asked for its politeness.
local function queueOf(name)
  local d = domains[name]
  if d then return d end
  local packed = packedDomains[name]
  if packed == nil then packed = call('HGET', domainsKey, name) end
  d = packed and unpackCore(packed) or newDomain()
  domains[name] = d
  return d
end

local function withPoliteness(d)
  if not d.rest then return d end
  if d.rest == '' then
    d.nextAt, d.blockedUntil, d.delaySetting, d.delayRobots, d.delayAuto, d.pages, d.lastAt = 0, 0, -1, 0, 0, 0, 0
  else
    local nextAt, blockedUntil, delaySetting, delayRobots, delayAuto, pages, lastAt = struct.unpack(RECORD.rest, d.rest)
    -- An instant further away than a day is a clock that jumped (a failover): it must block nothing.
    d.nextAt, d.blockedUntil, d.lastAt = math.min(nextAt, nowMs + 86400000), math.min(blockedUntil, nowMs + 86400000), math.min(lastAt, nowMs)
    d.delaySetting, d.delayRobots, d.delayAuto, d.pages = delaySetting - 1, delayRobots, delayAuto, pages
  end
  d.rest = false
  return d
end

local function domainOf(name) return withPoliteness(queueOf(name)) end

local function packDomain(d)
  local core = struct.pack(RECORD.core, d.number, d.place, d.active, d.head == '' and RECORD.none or d.head, d.tail == '' and RECORD.none or d.tail)
  if d.rest then return core .. d.rest end
  if d.pages == 0 and d.nextAt == 0 and d.blockedUntil == 0 and d.delaySetting < 0 and d.delayRobots == 0 and d.delayAuto == 0 and d.lastAt == 0 then return core end
  return core .. struct.pack(RECORD.rest, d.nextAt, d.blockedUntil, d.delaySetting + 1, d.delayRobots, d.delayAuto, d.pages, d.lastAt)
end

-- Puts a domain where it belongs; savePlaces tells the store.
local function place(d)
  withPoliteness(d)
  d.touched, d.moved, d.gone, d.key = true, false, false, ''
  local at = math.max(d.nextAt, d.blockedUntil)
  local hasWork = d.head ~= ''
  if hasWork and d.active >= number('limit', 8) then
    d.place = 'f'
  elseif at > nowMs then
    d.place, d.waitsUntil = 'w', at
  elseif hasWork then
    d.place, d.key = 'r', d.head
  else
    d.place = 'i'
    -- A domain with a delay of its own is kept: forgetting it would forget the politeness.
    d.gone = d.active == 0 and d.delaySetting < 0 and d.delayRobots == 0 and d.delayAuto == 0
  end
end

-- Places what changed, once all that changes it has happened, and writes who is ready and who waits.
local function savePlaces()
  local readyOut, readyIn, waitingOut, waitingIn = {}, {}, {}, {}
  for name, d in pairs(domains) do
    if d.moved then place(d) end
    if d.key ~= d.storedKey then
      if d.storedKey ~= '' then readyOut[#readyOut + 1] = d.storedKey .. name end
      if d.key ~= '' then
        readyIn[#readyIn + 1] = 0
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
    d.storedWaits, d.waitsUntil = d.place == 'w', nil
  end
  chunked('ZREM', readyKey, readyOut)
  chunked('ZADD', readyKey, readyIn)
  chunked('ZREM', waitingKey, waitingOut)
  chunked('ZADD', waitingKey, waitingIn)
end

local function delayOf(d)
  local own = d.delaySetting >= 0 and d.delaySetting or number('delay')
  return math.max(own, d.delayRobots, d.delayAuto)
end

-- Writes what the script changed, meta included; every verb that may change a domain ends with it.
local function flush()
  savePlaces()
  saveChunks()
  saveCounters()
  local pairsToSet, toDelete = {}, {}
  for name, d in pairs(domains) do
    if d.touched then
      if d.gone then
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
