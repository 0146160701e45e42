-- Politeness: each domain's record, its delay, and the one place it stands in.
-- uses: meta chunks counters

-- Record: { number, active, nextAt, blockedUntil, delay by setting (-1: the crawl's), by robots, by autothrottle,
-- pages, place, head, last lease at, tail }. place: r ready, w waiting, f full, i idle. head: the order of its best
-- request, '' when it has none. tail: the bound of its last chunk, '' when that is the first.

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

local function domainOf(name)
  local d = domains[name]
  if d then return d end
  local packed = packedDomains[name]
  if packed == nil then packed = call('HGET', domainsKey, name) end
  if packed then
    local p = cmsgpack.unpack(packed)
    -- An instant further away than a day is a clock that jumped (a failover): it must block nothing.
    local place, key = p[9], p[9] == 'r' and p[10] or ''
    d = { number = p[1], active = p[2], nextAt = math.min(p[3], nowMs + 86400000), blockedUntil = math.min(p[4], nowMs + 86400000),
      delaySetting = p[5], delayRobots = p[6], delayAuto = p[7], pages = p[8], place = place, head = p[10], lastAt = math.min(p[11], nowMs), tail = p[12],
      prefix = struct.pack('>I4', p[1]), key = key, storedKey = key, storedWaits = place == 'w', touched = false, moved = false }
  else
    local last = number('domain_numbers') + 1
    setMeta('domain_numbers', last)
    d = { number = last, prefix = struct.pack('>I4', last), isNew = true, active = 0, nextAt = 0, blockedUntil = 0, delaySetting = -1, delayRobots = 0, delayAuto = 0, pages = 0,
      place = 'i', head = '', lastAt = 0, tail = '', key = '', storedKey = '', storedWaits = false }
  end
  domains[name] = d
  return d
end

-- Puts a domain where it belongs; savePlaces tells the store.
local function place(d)
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
        pairsToSet[#pairsToSet + 1] = cmsgpack.pack({ d.number, d.active, d.nextAt, d.blockedUntil, d.delaySetting, d.delayRobots, d.delayAuto, d.pages, d.place, d.head, d.lastAt, d.tail })
      end
    end
  end
  chunked('HSET', domainsKey, pairsToSet)
  chunked('HDEL', domainsKey, toDelete)
  saveMeta()
end
