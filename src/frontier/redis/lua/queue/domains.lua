-- Domains: how many requests of each are in work, when it may be asked again, and where it stands.
--
-- A record (HASH `domains`, MessagePack by name):
--   active        leases of this domain
--   head          place of its best pending request, '' for none
--   stands        ready: may be asked now · waiting: not before an instant · full: as many leases as it may have ·
--                 idle: nothing pending
--   lastAt        instant of its last lease, 0 for never
-- and only where it was ever set:
--   nextAt, blockedUntil                      not to be asked before, by its delay, or since the site said so
--   delaySetting, delayRobots, delayAuto      its own delays, by source
-- During a call a domain has besides: name, readyAs (its entry in `ready`, or false), isWaiting (in `waiting`),
-- isMoved; domains.save takes them off.
local A_DAY = 86400000

local function opened(crawl, name, packed)
  local d = packed and cmsgpack.unpack(packed) or { active = 0, head = '', stands = 'idle', lastAt = 0 }
  d.name = name
  d.readyAs = d.stands == 'ready' and d.head .. name
  d.isWaiting = d.stands == 'waiting'
  -- An instant further away than a day is of a clock that jumped (a failover): it must block nothing.
  local latest = crawl.nowMs + A_DAY
  if d.nextAt and d.nextAt > latest then d.nextAt = latest end
  if d.blockedUntil and d.blockedUntil > latest then d.blockedUntil = latest end
  crawl.domains[name] = d
  return d
end

function domains.of(crawl, name)
  return crawl.domains[name] or opened(crawl, name, redis.call('HGET', crawl.keys.domains, name))
end

-- Reads the domains that a verb is about to ask for, all at once.
function domains.load(crawl, names)
  local wanted, isWanted = {}, {}
  for i = 1, #names do
    local name = names[i]
    if not crawl.domains[name] and not isWanted[name] then
      isWanted[name] = true
      wanted[#wanted + 1] = name
    end
  end
  local found = lists.read('HMGET', crawl.keys.domains, wanted)
  for i = 1, #wanted do opened(crawl, wanted[i], found[i]) end
end

-- The delay that holds: its own or the crawl's, and at least what robots.txt and the throttling ask for.
function domains.delay(crawl, d)
  return math.max(d.delaySetting or meta.number(crawl, 'delay'), d.delayRobots or 0, d.delayAuto or 0)
end

-- When it may be asked again; 0 for at any time.
function domains.dueAt(d) return math.max(d.nextAt or 0, d.blockedUntil or 0) end

function domains.limit(crawl) return meta.number(crawl, 'limit', 8) end

-- Its head, its leases or its politeness have changed: domains.save finds out where it stands, and writes its record.
function domains.move(crawl, d)
  if d.isMoved then return end
  d.isMoved = true
  crawl.movedDomains[#crawl.movedDomains + 1] = d
end

-- One of its leases has ended.
function domains.release(crawl, name)
  local d = domains.of(crawl, name)
  d.active = math.max(0, d.active - 1)
  domains.move(crawl, d)
end

-- A lease begins: the next one waits for the delay. random: in [0, 1), for this lease.
function domains.startClock(crawl, d, random)
  d.lastAt = crawl.nowMs
  local delay = domains.delay(crawl, d)
  if delay == 0 then return end
  local factor = meta.get(crawl, 'randomize') == '1' and 1 + random / 2 or 1
  d.nextAt = crawl.nowMs + math.floor(delay * factor)
end

local function standing(crawl, d)
  if d.head ~= '' and d.active >= domains.limit(crawl) then return 'full' end
  if domains.dueAt(d) > crawl.nowMs then return 'waiting' end
  return d.head ~= '' and 'ready' or 'idle'
end

-- Writes who stands where, and the new entries of their queues. Before anybody looks among the ready ones.
function domains.savePlaces(crawl)
  local out, into, awake, asleep = {}, {}, {}, {}
  for _, d in ipairs(crawl.movedDomains) do
    d.stands = standing(crawl, d)
    local readyAs = d.stands == 'ready' and d.head .. d.name
    if readyAs ~= d.readyAs then
      if d.readyAs then out[#out + 1] = d.readyAs end
      if readyAs then
        into[#into + 1] = 0
        into[#into + 1] = readyAs
      end
      d.readyAs = readyAs
    end
    if d.stands == 'waiting' then
      asleep[#asleep + 1] = domains.dueAt(d)
      asleep[#asleep + 1] = d.name
    elseif d.isWaiting then
      awake[#awake + 1] = d.name
    end
    d.isWaiting = d.stands == 'waiting'
  end
  lists.send('ZREM', crawl.keys.ready, out)
  lists.send('ZADD', crawl.keys.ready, into)
  lists.send('ZREM', crawl.keys.waiting, awake)
  lists.send('ZADD', crawl.keys.waiting, asleep)
  lists.send('ZADD', crawl.keys.queue, crawl.newEntries)
  crawl.newEntries = {}
end

-- Nothing waits for it, and nothing is to be remembered of it.
local function isForgettable(d)
  return d.stands == 'idle' and d.active == 0 and not d.delaySetting and not d.delayRobots and not d.delayAuto
end

-- Writes all that a call has changed of domains and queues.
function domains.save(crawl)
  domains.savePlaces(crawl)
  local kept, gone = {}, {}
  for _, d in ipairs(crawl.movedDomains) do
    local name = d.name
    d.name, d.readyAs, d.isWaiting, d.isMoved = nil, nil, nil, nil
    if isForgettable(d) then
      gone[#gone + 1] = name
    else
      kept[#kept + 1] = name
      kept[#kept + 1] = cmsgpack.pack(d)
    end
    crawl.domains[name] = nil
  end
  lists.send('HDEL', crawl.keys.domains, gone)
  lists.send('HSET', crawl.keys.domains, kept)
  crawl.movedDomains = {}
end

-- Domains whose time has come, a bounded number, may be asked again.
function domains.promoteWaiting(crawl)
  local due = redis.call('ZRANGEBYSCORE', crawl.keys.waiting, '-inf', crawl.nowMs, 'LIMIT', 0, 200)
  domains.load(crawl, due)
  for _, name in ipairs(due) do
    local d = domains.of(crawl, name)
    -- Of a domain whose record somebody deleted nothing else would end the waiting.
    d.isWaiting = true
    domains.move(crawl, d)
  end
end
