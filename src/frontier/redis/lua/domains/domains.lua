-- Domains: how many leases each has, when it may be leased from again, and its state.
--
-- A record (HASH `domains`) is packed: a lease reads and writes one for each page, and by name that took a tenth of the
-- time.
--   active        4 bytes: leases of this domain
--   state         a letter: ready: may be leased from now · waiting: its delay or throttle runs, whether anything is
--                 pending or not · full: its leases are at the limit · idle: nothing pending
--   lastAt        6 bytes: instant of its last lease, 0 for never
--   nextAt        6 bytes: earliest next lease, by its delay; 0 for any time
--   blockedUntil  6 bytes: the same, by a pause
--   pausedBy      a letter: who asked for that pause: r: the site (Retry-After) · a: nobody, as the site did not answer ·
--                 s: its delay, counted again from a late download
--   head          1 byte of length, then the sort key (queue.lua) of its best pending request, empty for none
--   delays        MessagePack: its own delays in ms by source: setting, robots, autothrottle; absent where it has none
-- During a call a domain is these fields, name, and
--   readyHead              the sort key of its entry in `ready`, or false
--   wasQueued              its record in the store has a pending request
--   isWaiting              it is in `waiting`
--   isDirty                its record must be written
--   needsReclassification  its state must be computed again
local RECORD = '>I4c1I6I6I6c1Bc0'
local STATES = { r = 'ready', w = 'waiting', f = 'full', i = 'idle' }
local DELAYS = { setting = 'number', robots = 'number', autothrottle = 'number' }
local SORT_KEY = 32

local function pack(d)
  local packed = struct.pack(RECORD, d.active, d.state, d.lastAt, d.nextAt, d.blockedUntil, d.pausedBy, #d.head, d.head)
  return d.delays and packed .. cmsgpack.pack(d.delays) or packed
end

-- A domain from its record, or a new one where `packed` is false; nil where it cannot be read.
function domains.unpack(name, packed)
  local active, letter, lastAt, nextAt, blockedUntil, pausedBy, head, delays = 0, 'i', 0, 0, 0, 's', '', nil
  if packed then
    local rest
    active, letter, lastAt, nextAt, blockedUntil, pausedBy, head, rest = reader.unpack(RECORD, packed)
    local isSound = STATES[letter] and (head == '' or #head == SORT_KEY)
    if isSound and rest <= #packed then
      delays = reader.map(string.sub(packed, rest))
      isSound = delays and reader.hasFields(delays, DELAYS)
    end
    if not isSound then return nil end
  end
  local state = STATES[letter]
  return { name = name, active = active, state = state, lastAt = lastAt, nextAt = nextAt, blockedUntil = blockedUntil,
    pausedBy = pausedBy, head = head, delays = delays, readyHead = state == 'ready' and head, isWaiting = state == 'waiting',
    wasQueued = head ~= '', isDirty = false, needsReclassification = false }
end

-- A domain whose record is gone or cannot be read, from its queue and its leases. A full delay begins, as nobody knows when the domain was
-- asked last. O(leases).
function domains.rebuilt(crawl, name)
  local d = domains.unpack(name, false)
  d.head = queue.sortKeys(crawl, name, 1)[1] or ''
  for _, leased in ipairs(leaseRecords.domains(crawl)) do
    if leased == name then d.active = d.active + 1 end
  end
  d.lastAt, d.nextAt = crawl.nowMs, crawl.nowMs + math.ceil(delayTimer.delay(crawl, d))
  -- Wherever it is, it is taken out.
  d.readyHead, d.isWaiting = d.head ~= '' and d.head, true
  reader.noteUnreadable(crawl, 1)
  domains.markChanged(crawl, d)
  crawl.domains[name] = d
  return d
end

local function opened(crawl, name, packed)
  local d = domains.unpack(name, packed) or domains.rebuilt(crawl, name)
  -- No verb writes an instant more than a day ahead: a full delay begins.
  local latest = crawl.nowMs + limits.FURTHEST_MS
  if d.nextAt > latest or d.blockedUntil > latest then delayTimer.bound(crawl, d) end
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

-- The instant in `forMs` from now. Nothing keeps a domain back for more than a day.
function domains.atMostADay(crawl, forMs) return crawl.nowMs + math.min(forMs, limits.FURTHEST_MS) end

-- How many leases it may have.
function domains.limit(crawl, d)
  local slot = domainLimits.of(crawl, d)
  return slot and slot.concurrency or meta.number(crawl, 'limit', limits.FIRST_CONCURRENCY)
end

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
  d.active = math.max(0, d.active - 1)
  domains.markChanged(crawl, d)
end

-- The state that follows from its record now.
function domains.computeState(crawl, d)
  if d.head ~= '' and d.active >= domains.limit(crawl, d) then return 'full' end
  if d.nextAt > crawl.nowMs or d.blockedUntil > crawl.nowMs then return 'waiting' end
  return d.head ~= '' and 'ready' or 'idle'
end

-- Writes the changed states to `ready` and `waiting`, and the new members to `queue`. Call it before reading `ready`.
function domains.saveStates(crawl)
  local out, into, awake, asleep = {}, {}, {}, {}
  for i = 1, #crawl.reclassifyDomains do
    local d = crawl.reclassifyDomains[i]
    local newState = domains.computeState(crawl, d)
    local readyHead = newState == 'ready' and d.head
    if readyHead ~= d.readyHead then
      if d.readyHead then out[#out + 1] = d.readyHead .. d.name end
      if readyHead then lists.pair(into, '0', readyHead .. d.name) end
    end
    if newState == 'waiting' then
      lists.pair(asleep, delayTimer.dueAt(d), d.name)
    elseif d.isWaiting then
      awake[#awake + 1] = d.name
    end
    d.state, d.readyHead, d.isWaiting, d.needsReclassification = newState, readyHead, newState == 'waiting', false
  end
  lists.send('ZREM', crawl.keys.ready, out)
  lists.send('ZADD', crawl.keys.ready, into)
  lists.send('ZREM', crawl.keys.waiting, awake)
  lists.send('ZADD', crawl.keys.waiting, asleep)
  lists.send('ZADD', crawl.keys.queue, crawl.newMembers)
  crawl.reclassifyDomains, crawl.newMembers = {}, {}
end

-- Whether the record can be deleted: it has no requests, no delay timer, and no delay of its own.
local function isForgettable(d) return d.state == 'idle' and d.active == 0 and not d.delays end

-- Writes every change that this call made to domains and queues.
function domains.save(crawl)
  domains.saveStates(crawl)
  local kept, gone = {}, {}
  for _, d in ipairs(crawl.dirtyDomains) do
    d.isDirty = false
    local isQueued = d.head ~= ''
    if isQueued ~= d.wasQueued then
      meta.set(crawl, 'queued_domains', math.max(0, meta.number(crawl, 'queued_domains') + (isQueued and 1 or -1)))
      d.wasQueued = isQueued
    end
    if isForgettable(d) then
      gone[#gone + 1] = d.name
    else
      lists.pair(kept, d.name, pack(d))
    end
  end
  lists.send('HDEL', crawl.keys.domains, gone)
  lists.send('HSET', crawl.keys.domains, kept)
  crawl.dirtyDomains = {}
end

-- Reclassifies waiting domains whose delay has passed, a bounded number.
function domains.promoteWaiting(crawl)
  local due = redis.call('ZRANGEBYSCORE', crawl.keys.waiting, '-inf', lists.digits(crawl.nowMs), 'LIMIT', '0', limits.PROMOTED_AT_ONCE)
  -- An instant so far off comes from a server clock that was ahead (a failover): `opened` limits it.
  local tooFar = '(' .. lists.digits(crawl.nowMs + limits.FURTHEST_MS)
  lists.append(due, redis.call('ZRANGEBYSCORE', crawl.keys.waiting, tooFar, '+inf', 'LIMIT', '0', limits.PROMOTED_AT_ONCE))
  domains.load(crawl, due)
  for _, name in ipairs(due) do
    local d = domains.of(crawl, name)
    -- Also where somebody deleted the domain's record: nothing else would take it out of `waiting`.
    d.isWaiting = true
    domains.markChanged(crawl, d)
  end
end
