-- Politeness: each domain's record, its delay, and the one place it stands in.
-- uses: meta

-- Record: { number, active, nextAt, blockedUntil, delay by setting (-1: the crawl's), by robots, by autothrottle,
-- pages, place, key, last lease at }. place: r ready (key: its order there), w waiting, f full, i idle.

local domains = {}

local function domainOf(name)
  local d = domains[name]
  if d then return d end
  local packed = call('HGET', domainsKey, name)
  if packed then
    local p = cmsgpack.unpack(packed)
    -- An instant further away than a day is a clock that jumped (a failover): it must block nothing.
    d = { number = p[1], active = p[2], nextAt = math.min(p[3], nowMs + 86400000), blockedUntil = math.min(p[4], nowMs + 86400000),
      delaySetting = p[5], delayRobots = p[6], delayAuto = p[7], pages = p[8], place = p[9], key = p[10], lastAt = math.min(p[11] or 0, nowMs) }
  else
    local last = number('domain_numbers') + 1
    setMeta('domain_numbers', last)
    d = { number = last, active = 0, nextAt = 0, blockedUntil = 0, delaySetting = -1, delayRobots = 0, delayAuto = 0, pages = 0, place = 'i', key = '', lastAt = 0 }
  end
  d.prefix = struct.pack('>I4', d.number)
  domains[name] = d
  return d
end

-- The first `count` members of the domain's queue.
local function heads(d, count)
  return call('ZRANGEBYLEX', queueKey, '[' .. d.prefix, '(' .. struct.pack('>I4', d.number + 1), 'LIMIT', 0, count)
end

local function moveTo(name, d, place, key, at)
  if d.place == 'r' and (place ~= 'r' or key ~= d.key) then call('ZREM', readyKey, d.key .. name) end
  if d.place == 'w' and place ~= 'w' then call('ZREM', waitingKey, name) end
  if place == 'r' and (d.place ~= 'r' or key ~= d.key) then call('ZADD', readyKey, 0, key .. name) end
  if place == 'w' then call('ZADD', waitingKey, at, name) end
  d.place, d.key = place, place == 'r' and key or ''
end

-- Puts a domain where it belongs. head: the order of its best request, false when it has none, nil to look.
local function place(name, d, head)
  if head == nil then
    local member = heads(d, 1)[1]
    head = member and sub(member, 5, 16) or false
  end
  d.touched, d.gone = true, false
  local at = math.max(d.nextAt, d.blockedUntil)
  if head and d.active >= number('limit', 8) then return moveTo(name, d, 'f') end
  if at > nowMs then return moveTo(name, d, 'w', nil, at) end
  if head then return moveTo(name, d, 'r', head) end
  moveTo(name, d, 'i')
  -- A domain with a delay of its own is kept: forgetting it would forget the politeness.
  d.gone = d.active == 0 and d.delaySetting < 0 and d.delayRobots == 0 and d.delayAuto == 0
end

local function delayOf(d)
  local own = d.delaySetting >= 0 and d.delaySetting or number('delay')
  return math.max(own, d.delayRobots, d.delayAuto)
end

-- Writes what the script changed, meta included; every verb that may change a domain ends with it.
local function flush()
  local pairsToSet, toDelete = {}, {}
  for name, d in pairs(domains) do
    if d.touched then
      if d.gone then
        toDelete[#toDelete + 1] = name
      else
        pairsToSet[#pairsToSet + 1] = name
        pairsToSet[#pairsToSet + 1] = cmsgpack.pack({ d.number, d.active, d.nextAt, d.blockedUntil, d.delaySetting, d.delayRobots, d.delayAuto, d.pages, d.place, d.key, d.lastAt })
      end
    end
  end
  chunked('HSET', domainsKey, pairsToSet)
  chunked('HDEL', domainsKey, toDelete)
  saveMeta()
end
