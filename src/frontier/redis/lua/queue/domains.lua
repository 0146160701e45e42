-- Domains: how many leases each has, when it may be leased from again, and its state.
--
-- A record (HASH `domains`, MessagePack by name):
--   active        leases of this domain
--   head          sort key (queue.lua) of its best pending request, '' for none
--   state         ready: may be leased from now · waiting: not before an instant · full: its leases are at the limit ·
--                 idle: nothing pending
--   lastAt        instant of its last lease, 0 for never
-- and only where it was ever set:
--   nextAt, blockedUntil                      earliest next lease, by its delay; by a throttle of the site
--   delaySetting, delayRobots, delayAuto      its own delays, by source
-- During a call a domain is { name, record, readyEntry: its entry in `ready`, or false, isWaiting: it is in `waiting`,
-- isDirty: its record must be written, needsReclassification: its state must be computed again }.
local A_DAY = 86400000

local function opened(crawl, name, packed)
  local r = packed and cmsgpack.unpack(packed) or { active = 0, head = '', state = 'idle', lastAt = 0 }
  -- An instant more than a day ahead comes from a server clock that jumped (a failover): it is limited to a day.
  local latest = crawl.nowMs + A_DAY
  if r.nextAt and r.nextAt > latest then r.nextAt = latest end
  if r.blockedUntil and r.blockedUntil > latest then r.blockedUntil = latest end
  local d = { name = name, record = r, readyEntry = r.state == 'ready' and r.head .. name, isWaiting = r.state == 'waiting',
    isDirty = false, needsReclassification = false, again = nil, lastTaken = nil }
  crawl.domains[name] = d
  return d
end

function domains.of(crawl, name)
  return crawl.domains[name] or opened(crawl, name, redis.call('HGET', crawl.keys.domains, name))
end

-- Reads the domains that a verb will need, in one command.
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

-- The delay in force: its own or else the crawl's, and at least what robots.txt and AutoThrottle ask for.
function domains.delay(crawl, d)
  local r = d.record
  return math.max(r.delaySetting or meta.number(crawl, 'delay'), r.delayRobots or 0, r.delayAuto or 0)
end

-- When it may be leased from again; 0 for at any time.
function domains.dueAt(d) return math.max(d.record.nextAt or 0, d.record.blockedUntil or 0) end

function domains.limit(crawl) return meta.number(crawl, 'limit', 8) end

-- Call after a change of its head, leases or politeness: domains.save then computes its state and writes its record.
function domains.markChanged(crawl, d)
  if not d.needsReclassification then
    d.needsReclassification = true
    crawl.reclassifyDomains[#crawl.reclassifyDomains + 1] = d
  end
  if not d.isDirty then
    d.isDirty = true
    crawl.dirtyDomains[#crawl.dirtyDomains + 1] = d
  end
end

-- One of its leases has ended.
function domains.release(crawl, name)
  local d = domains.of(crawl, name)
  d.record.active = math.max(0, d.record.active - 1)
  domains.markChanged(crawl, d)
end

-- Starts the delay timer for a lease that begins now. random: in [0, 1), for a randomized delay.
function domains.startDelayTimer(crawl, d, random)
  d.record.lastAt = crawl.nowMs
  local delay = domains.delay(crawl, d)
  if delay == 0 then return end
  local factor = meta.get(crawl, 'randomize') == '1' and 1 + random / 2 or 1
  d.record.nextAt = crawl.nowMs + math.ceil(delay * factor)
end

-- The state that follows from its record now.
function domains.computeState(crawl, d)
  local r = d.record
  if r.head ~= '' and r.active >= domains.limit(crawl) then return 'full' end
  if (r.nextAt or r.blockedUntil) and domains.dueAt(d) > crawl.nowMs then return 'waiting' end
  return r.head ~= '' and 'ready' or 'idle'
end

-- Writes the changed states to `ready` and `waiting`, and the new members to `queue`. Call it before reading `ready`.
function domains.saveStates(crawl)
  local out, into, awake, asleep = {}, {}, {}, {}
  for _, d in ipairs(crawl.reclassifyDomains) do
    local newState = domains.computeState(crawl, d)
    local readyEntry = newState == 'ready' and d.record.head .. d.name
    if readyEntry ~= d.readyEntry then
      if d.readyEntry then out[#out + 1] = d.readyEntry end
      if readyEntry then
        into[#into + 1] = '0'
        into[#into + 1] = readyEntry
      end
    end
    if newState == 'waiting' then
      asleep[#asleep + 1] = domains.dueAt(d)
      asleep[#asleep + 1] = d.name
    elseif d.isWaiting then
      awake[#awake + 1] = d.name
    end
    d.record.state, d.readyEntry, d.isWaiting, d.needsReclassification = newState, readyEntry, newState == 'waiting', false
  end
  lists.send('ZREM', crawl.keys.ready, out)
  lists.send('ZADD', crawl.keys.ready, into)
  lists.send('ZREM', crawl.keys.waiting, awake)
  lists.send('ZADD', crawl.keys.waiting, asleep)
  lists.send('ZADD', crawl.keys.queue, crawl.newMembers)
  crawl.reclassifyDomains, crawl.newMembers = {}, {}
end

-- Whether the record can be deleted: it has no requests, no delay timer, and no delay of its own.
local function isForgettable(r)
  return r.state == 'idle' and r.active == 0 and not (r.delaySetting or r.delayRobots or r.delayAuto)
end

-- Writes every change that this call made to domains and queues.
function domains.save(crawl)
  domains.saveStates(crawl)
  local kept, gone = {}, {}
  for _, d in ipairs(crawl.dirtyDomains) do
    d.isDirty = false
    if isForgettable(d.record) then
      gone[#gone + 1] = d.name
    else
      kept[#kept + 1] = d.name
      kept[#kept + 1] = cmsgpack.pack(d.record)
    end
  end
  lists.send('HDEL', crawl.keys.domains, gone)
  lists.send('HSET', crawl.keys.domains, kept)
  crawl.dirtyDomains = {}
end

-- Reclassifies waiting domains whose delay has passed, a bounded number.
function domains.promoteWaiting(crawl)
  local due = redis.call('ZRANGEBYSCORE', crawl.keys.waiting, '-inf', lists.digits(crawl.nowMs), 'LIMIT', '0', '200')
  -- An instant so far off comes from a server clock that was ahead (a failover): `opened` limits it.
  local tooFar = '(' .. lists.digits(crawl.nowMs + A_DAY)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', crawl.keys.waiting, tooFar, '+inf', 'LIMIT', '0', '200')) do
    due[#due + 1] = name
  end
  domains.load(crawl, due)
  for _, name in ipairs(due) do
    local d = domains.of(crawl, name)
    -- Also where somebody deleted the domain's record: nothing else would take it out of `waiting`.
    d.isWaiting = true
    domains.markChanged(crawl, d)
  end
end
