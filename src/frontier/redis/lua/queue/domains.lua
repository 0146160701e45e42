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
-- During a call a domain is { name, record, readyAs: its entry in `ready`, or false, isWaiting: it is in `waiting`,
-- isMoved: its record is to be written, isUnplaced: it may stand elsewhere now }.
local A_DAY = 86400000

local function opened(crawl, name, packed)
  local r = packed and cmsgpack.unpack(packed) or { active = 0, head = '', stands = 'idle', lastAt = 0 }
  -- An instant further away than a day is of a clock that jumped (a failover): it must block nothing.
  local latest = crawl.nowMs + A_DAY
  if r.nextAt and r.nextAt > latest then r.nextAt = latest end
  if r.blockedUntil and r.blockedUntil > latest then r.blockedUntil = latest end
  local d = { name = name, record = r, readyAs = r.stands == 'ready' and r.head .. name, isWaiting = r.stands == 'waiting',
    isMoved = false, isUnplaced = false, again = nil, lastTaken = nil }
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
  local r = d.record
  return math.max(r.delaySetting or meta.number(crawl, 'delay'), r.delayRobots or 0, r.delayAuto or 0)
end

-- When it may be asked again; 0 for at any time.
function domains.dueAt(d) return math.max(d.record.nextAt or 0, d.record.blockedUntil or 0) end

function domains.limit(crawl) return meta.number(crawl, 'limit', 8) end

-- Its head, its leases or its politeness have changed: domains.save finds out where it stands, and writes its record.
function domains.move(crawl, d)
  if not d.isUnplaced then
    d.isUnplaced = true
    crawl.unplacedDomains[#crawl.unplacedDomains + 1] = d
  end
  if not d.isMoved then
    d.isMoved = true
    crawl.movedDomains[#crawl.movedDomains + 1] = d
  end
end

-- One of its leases has ended.
function domains.release(crawl, name)
  local d = domains.of(crawl, name)
  d.record.active = math.max(0, d.record.active - 1)
  domains.move(crawl, d)
end

-- A lease begins: the next one waits for the delay. random: in [0, 1), for this lease.
function domains.startClock(crawl, d, random)
  d.record.lastAt = crawl.nowMs
  local delay = domains.delay(crawl, d)
  if delay == 0 then return end
  local factor = meta.get(crawl, 'randomize') == '1' and 1 + random / 2 or 1
  d.record.nextAt = crawl.nowMs + math.ceil(delay * factor)
end

-- Where it belongs now.
function domains.standing(crawl, d)
  local r = d.record
  if r.head ~= '' and r.active >= domains.limit(crawl) then return 'full' end
  if (r.nextAt or r.blockedUntil) and domains.dueAt(d) > crawl.nowMs then return 'waiting' end
  return r.head ~= '' and 'ready' or 'idle'
end

-- Writes who stands where, and the new members of their queues. Before anybody looks among the ready ones.
function domains.savePlaces(crawl)
  local out, into, awake, asleep = {}, {}, {}, {}
  for _, d in ipairs(crawl.unplacedDomains) do
    local stands = domains.standing(crawl, d)
    local readyAs = stands == 'ready' and d.record.head .. d.name
    if readyAs ~= d.readyAs then
      if d.readyAs then out[#out + 1] = d.readyAs end
      if readyAs then
        into[#into + 1] = '0'
        into[#into + 1] = readyAs
      end
    end
    if stands == 'waiting' then
      asleep[#asleep + 1] = domains.dueAt(d)
      asleep[#asleep + 1] = d.name
    elseif d.isWaiting then
      awake[#awake + 1] = d.name
    end
    d.record.stands, d.readyAs, d.isWaiting, d.isUnplaced = stands, readyAs, stands == 'waiting', false
  end
  lists.send('ZREM', crawl.keys.ready, out)
  lists.send('ZADD', crawl.keys.ready, into)
  lists.send('ZREM', crawl.keys.waiting, awake)
  lists.send('ZADD', crawl.keys.waiting, asleep)
  lists.send('ZADD', crawl.keys.queue, crawl.newMembers)
  crawl.unplacedDomains, crawl.newMembers = {}, {}
end

-- Nothing waits for it, and nothing is to be remembered of it.
local function isForgettable(r)
  return r.stands == 'idle' and r.active == 0 and not (r.delaySetting or r.delayRobots or r.delayAuto)
end

-- Writes all that a call has changed of domains and queues.
function domains.save(crawl)
  domains.savePlaces(crawl)
  local kept, gone = {}, {}
  for _, d in ipairs(crawl.movedDomains) do
    d.isMoved = false
    if isForgettable(d.record) then
      gone[#gone + 1] = d.name
    else
      kept[#kept + 1] = d.name
      kept[#kept + 1] = cmsgpack.pack(d.record)
    end
  end
  lists.send('HDEL', crawl.keys.domains, gone)
  lists.send('HSET', crawl.keys.domains, kept)
  crawl.movedDomains = {}
end

-- Domains whose time has come, a bounded number, may be asked again.
function domains.promoteWaiting(crawl)
  local due = redis.call('ZRANGEBYSCORE', crawl.keys.waiting, '-inf', lists.digits(crawl.nowMs), 'LIMIT', '0', '200')
  -- An instant so far off is of a clock that was ahead (a failover): `opened` limits it.
  local tooFar = '(' .. lists.digits(crawl.nowMs + A_DAY)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', crawl.keys.waiting, tooFar, '+inf', 'LIMIT', '0', '200')) do
    due[#due + 1] = name
  end
  domains.load(crawl, due)
  for _, name in ipairs(due) do
    local d = domains.of(crawl, name)
    -- Of a domain whose record somebody deleted nothing else would end the waiting.
    d.isWaiting = true
    domains.move(crawl, d)
  end
end
