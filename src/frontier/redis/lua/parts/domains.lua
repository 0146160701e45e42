-- Politeness: each domain's record, its delay, and the one place it stands in.
-- uses: meta chunks

-- Record: { number, active, nextAt, blockedUntil, delay by setting (-1: the crawl's), by robots, by autothrottle,
-- pages, place, head, last lease at, tail }. place: r ready, w waiting, f full, i idle. head: the order of its best
-- request, '' when it has none. tail: the bound of its last chunk, '' when that is the first.

local domains = {}

local function domainOf(name)
  local d = domains[name]
  if d then return d end
  local packed = call('HGET', domainsKey, name)
  if packed then
    local p = cmsgpack.unpack(packed)
    -- An instant further away than a day is a clock that jumped (a failover): it must block nothing.
    d = { number = p[1], active = p[2], nextAt = math.min(p[3], nowMs + 86400000), blockedUntil = math.min(p[4], nowMs + 86400000),
      delaySetting = p[5], delayRobots = p[6], delayAuto = p[7], pages = p[8], place = p[9], head = p[10], lastAt = math.min(p[11], nowMs), tail = p[12] }
    -- What it is called among the ready ones.
    d.key = d.place == 'r' and d.head or ''
  else
    local last = number('domain_numbers') + 1
    setMeta('domain_numbers', last)
    d = { number = last, active = 0, nextAt = 0, blockedUntil = 0, delaySetting = -1, delayRobots = 0, delayAuto = 0, pages = 0, place = 'i', head = '', lastAt = 0, tail = '', key = '' }
  end
  d.prefix = struct.pack('>I4', d.number)
  domains[name] = d
  return d
end

local function moveTo(name, d, place, at)
  local key = place == 'r' and d.head or ''
  if key ~= d.key then
    if d.key ~= '' then call('ZREM', readyKey, d.key .. name) end
    if key ~= '' then call('ZADD', readyKey, 0, key .. name) end
    d.key = key
  end
  if d.place == 'w' and place ~= 'w' then call('ZREM', waitingKey, name) end
  if place == 'w' then call('ZADD', waitingKey, at, name) end
  d.place = place
end

-- Puts a domain where it belongs.
local function place(name, d)
  d.touched, d.moved, d.gone = true, false, false
  local at = math.max(d.nextAt, d.blockedUntil)
  local hasWork = d.head ~= ''
  if hasWork and d.active >= number('limit', 8) then return moveTo(name, d, 'f') end
  if at > nowMs then return moveTo(name, d, 'w', at) end
  if hasWork then return moveTo(name, d, 'r') end
  moveTo(name, d, 'i')
  -- A domain with a delay of its own is kept: forgetting it would forget the politeness.
  d.gone = d.active == 0 and d.delaySetting < 0 and d.delayRobots == 0 and d.delayAuto == 0
end

-- Domains that changed are placed once, when all that changes them has happened.
local function placeMoved()
  for name, d in pairs(domains) do
    if d.moved then place(name, d) end
  end
end

local function delayOf(d)
  local own = d.delaySetting >= 0 and d.delaySetting or number('delay')
  return math.max(own, d.delayRobots, d.delayAuto)
end

-- Writes what the script changed, meta included; every verb that may change a domain ends with it.
local function flush()
  placeMoved()
  saveChunks()
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
