-- Take up to max due and polite requests, best first over all domains, and say how the crawl stands.
-- Atomic: order, delays and concurrency hold for all nodes together because they are decided here, on one clock.
--
-- ARGV: 4 max · 5 how many requests the node processes now · 6 a random number in [0, 1) ·
-- 7 the crawl this node joined
-- Returns { wait ms, control, finished 0|1, accepted in run, closing, seeds waiting, idle ms, queue full 0|1,
-- then for each lease: id, token, domain, delay ms, crashes, record }. O(k log n) for k leases.
-- uses: nodes guards answers leases completion limits

local incarnation, wanted, holding, random = ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local PROMOTE = 200
local MAX_LEASES = 1000
local LOOK_AT_SUSPECTS = 100
local MAX_SKIPPED = 1000

local refusal = readMeta('queue', 'control', 'arrival', 'domain_numbers', 'limit', 'delay', 'randomize', 'run_accepted', 'run_pages',
  'budgets', 'queue_limit', 'closing', 'volunteer', 'has_start', 'start', 'idle_since', 'removed',
  'hungry', 'hungry_at')
if refusal then return redis.error_reply(refusal) end
if not isLive(incarnation) then return redis.error_reply(deathIn(ARGV[7])) end
unlessFull()
confirmArrived()
wanted = math.min(wanted, MAX_LEASES)

local leases = {}
local stoodBack, skipped = false, 0

local function promoteDelayed()
  local due = call('ZRANGEBYSCORE', delayedKey, '-inf', nowMs, 'LIMIT', 0, PROMOTE)
  for _, member in ipairs(due) do
    call('ZREM', delayedKey, member)
    local id = sub(member, 1, 20)
    local crashes = tonumber(call('HGET', crashesKey, id) or 0)
    requeue(sub(member, 26), orderOf(sub(member, 21, 25), takeArrival()), id, crashes)
  end
end

local function promoteWaiting()
  local due = call('ZRANGEBYSCORE', waitingKey, '-inf', nowMs, 'LIMIT', 0, PROMOTE)
  loadDomains(due)
  for _, name in ipairs(due) do
    local d = domainOf(name)
    -- Of a domain whose record somebody deleted nothing else would end the waiting.
    if d.place ~= 'w' then call('ZREM', waitingKey, name) end
    place(d)
  end
end

-- Requests that are taken out of the queue, each { id, order, name, d, crashes }, become leases. One whose record is gone,
-- since somebody typed DEL, is skipped and counted.
local function leaseAll(taken)
  local ids, packed = {}, {}
  for i, request in ipairs(taken) do ids[i] = request[1] end
  for i, record in ipairs(fetched('HMGET', requests, ids)) do
    local id, order, name, d, crashes = unpack(taken[i])
    if record then
      local token = ARGV[2] .. '.' .. (#leases + 1)
      packed[#packed + 1] = id
      packed[#packed + 1] = packLease({ token = token, incarnation = incarnation, order = order, domain = name, atMs = nowMs, crashes = crashes, priority = sub(order, 1, 5) })
      d.pages = d.pages + 1
      leases[#leases + 1] = { id, token, name, delayOf(d), crashes, record }
      noteLife(id, 'leased')
    else
      d.active, d.moved = d.active - 1, true
      setMeta('removed', number('removed') + 1)
      skipped = skipped + 1
    end
  end
  chunked('HSET', leasesKey, packed)
end

-- nth: how many were leased before it, so that the delays of one call differ.
local function startClock(d, nth)
  d.lastAt = nowMs
  local delay = delayOf(d)
  if delay == 0 then return end
  local factor = meta.randomize == '1' and 1 + ((random + nth * 0.618) % 1) / 2 or 1
  d.nextAt = nowMs + floor(delay * factor)
end

-- A site whose concurrency is smaller than one node's would stay with the node that came first, since its next lease
-- follows its settle at once. So a node that got less than it asked for says so, and one that holds more than its
-- share of the leases stands back for a moment. With a delay the clock shares the site out by itself.
local HUNGRY_MS = 300

local function standsBack()
  if not meta.hungry or meta.hungry == '' or meta.hungry == incarnation or nowMs - number('hungry_at') > HUNGRY_MS then return false end
  return tonumber(call('HGET', heldKey, incarnation) or 0) * call('ZCARD', nodesKey) > call('HLEN', leasesKey)
end

local function noteHunger(satisfied)
  if not satisfied then
    setMeta('hungry', incarnation)
    setMeta('hungry_at', nowMs)
  elseif meta.hungry == incarnation then
    setMeta('hungry', '')
  end
end

-- A domain gives as many in a row as go before the rival, the next domain's best, and fit its own limits.
local function takeFrom(name, d, rival, room, taken)
  local capacity = math.min(room, number('limit', 8) - d.active)
  -- It was ready when its limit was another, or the clock.
  if math.max(d.nextAt, d.blockedUntil) > nowMs then capacity = 0 end
  if delayOf(d) > 0 then capacity = math.min(1, capacity) end
  for i = 1, capacity do
    local order = d.head
    if order == '' or (i > 1 and rival and isBefore(rival, order)) then break end
    local id = pop(d)
    if id then
      taken[#taken + 1] = { id, order, name, d, 0 }
      d.active = d.active + 1
    end
  end
  if capacity > 0 then startClock(d, #leases + #taken) end
  place(d)
end

-- Takes the best requests of the ready domains. These are read once, one more than can be needed, and kept in order here.
local function takeBest(room)
  savePlaces()
  local ready, names, taken = call('ZRANGE', readyKey, 0, room), {}, {}
  local isAll = #ready <= room
  for i, member in ipairs(ready) do names[i] = sub(member, ORDER + 1) end
  loadDomains(names)
  local at = 1
  while at <= #ready and #taken < room do
    local key, name = sub(ready[at], 1, ORDER), sub(ready[at], ORDER + 1)
    local d = domainOf(name)
    at = at + 1
    if d.place ~= 'r' or d.key ~= key then
      -- Somebody deleted the domain's record: without this the entry would be met for ever.
      call('ZREM', readyKey, ready[at - 1])
    else
      takeFrom(name, d, ready[at] and sub(ready[at], 1, ORDER), room - #taken, taken)
      if d.place == 'r' then
        local next = at
        while ready[next] and isBefore(sub(ready[next], 1, ORDER), d.head) do next = next + 1 end
        -- Behind the last one there may be others that go before it.
        if isAll or next <= #ready then table.insert(ready, next, d.key .. name) end
      end
    end
  end
  leaseAll(taken)
  return #ready > 0
end

-- The first suspect whose domain may be leased from; a domain that must wait is put among the waiting, so that it is
-- known when to ask again.
local function eligibleSuspect()
  for _, member in ipairs(call('ZRANGE', suspectsKey, 0, LOOK_AT_SUSPECTS - 1)) do
    local name = sub(member, 33)
    local d = domainOf(name)
    local isDue = math.max(d.nextAt, d.blockedUntil) <= nowMs
    if isDue and d.active < number('limit', 8) then return member end
    if not isDue and d.place ~= 'w' then place(d) end
  end
  return nil
end

local function takeSuspect(member)
  local name, id = sub(member, 33), sub(member, 13, 32)
  local d = domainOf(name)
  call('ZREM', suspectsKey, member)
  d.active = d.active + 1
  leaseAll({ { id, sub(member, 1, ORDER), name, d, tonumber(call('HGET', crashesKey, id) or 1) } })
  startClock(d, 0)
  place(d)
end

-- One incarnation at a time volunteers for the suspects: it empties itself, then processes them one by one alone.
local function volunteers()
  local volunteer = meta.volunteer
  if volunteer and volunteer ~= '' and volunteer ~= incarnation and isLive(volunteer) then return false end
  local isBusy = tonumber(call('HGET', heldKey, incarnation) or 0) > 0 or holding > 0
  -- It holds a suspect, or empties itself for one: nothing else until then.
  if volunteer == incarnation and isBusy then return true end
  local member = call('ZCARD', suspectsKey) > 0 and eligibleSuspect()
  if not member then
    if volunteer and volunteer ~= '' then setMeta('volunteer', '') end
    return false
  end
  setMeta('volunteer', incarnation)
  if not isBusy then takeSuspect(member) end
  return true
end

closeWhenSpent()
local budget = budgetsOf(meta.budgets).pages
local leftInBudget = budget > 0 and math.max(0, budget - number('run_pages')) or math.huge
local isOpen = meta.control == 'running' and (not meta.closing or meta.closing == '')

-- Somebody typed DEL: what the queue held is counted as removed, or the crawl would wait for it for ever.
local function forgetLostQueue()
  if number('pending') == 0 or pendingChange ~= 0 or call('EXISTS', queueKey) == 1 then return end
  setMeta('removed', number('removed') + number('pending'))
  setMeta('pending', 0)
end

local function answerOf(waitMs)
  if #leases == 0 then forgetLostQueue() end
  local seeds = seedsWaiting()
  local leased = call('HLEN', leasesKey)
  local busy = leased > 0 or pendingCount() > 0 or call('ZCARD', delayedKey) > 0 or call('ZCARD', suspectsKey) > 0
  if busy and meta.idle_since and meta.idle_since ~= '' then setMeta('idle_since', '') end
  if not busy and (not meta.idle_since or meta.idle_since == '') then setMeta('idle_since', nowMs) end
  local idleMs = busy and 0 or nowMs - number('idle_since')
  local finished = not busy and isFinished(seeds)
  return { waitMs, meta.control, finished and 1 or 0, number('run_accepted'), meta.closing or '', seeds, idleMs, isFull() and 1 or 0 }
end

-- With work behind a full domain: soon, but the more nodes there are the less often each.
local function nextInstant()
  local waitMs = 1000
  if stoodBack then return 30 end
  if skipped >= MAX_SKIPPED then return 1 end
  if meta.hungry == incarnation then waitMs = math.min(waitMs, 25 * call('ZCARD', nodesKey)) end
  for _, key in ipairs({ waitingKey, delayedKey }) do
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[2] then waitMs = math.min(waitMs, math.max(1, tonumber(first[2]) - nowMs)) end
  end
  return waitMs
end

local first = firstAnswer()
if first then
  leases = cmsgpack.unpack(first)
  for _, lease in ipairs(leases) do lease[6] = call('HGET', requests, lease[1]) or '' end
elseif isOpen and wanted > 0 then
  promoteDelayed()
  promoteWaiting()
  local room = math.min(wanted, leftInBudget)
  if room > 0 and not volunteers() then
    if standsBack() then
      stoodBack = true
    else
      while #leases < room and skipped < MAX_SKIPPED and takeBest(room - #leases) do end
      noteHunger(#leases > 0 or number('delay') > 0 or pendingCount() == 0)
    end
  end
  if #leases > 0 then
    call('HINCRBY', heldKey, incarnation, #leases)
    setMeta('run_pages', number('run_pages') + #leases)
    local kept = {}
    for i, lease in ipairs(leases) do kept[i] = { lease[1], lease[2], lease[3], lease[4], lease[5] } end
    keepAnswer(cmsgpack.pack(kept))
  end
end

local waitMs = 1000
savePlaces()
if isOpen then waitMs = (wanted > 0 and #leases == wanted and call('ZCARD', readyKey) > 0) and 0 or nextInstant() end
local answer = answerOf(waitMs)
flush()
for _, lease in ipairs(leases) do
  for i = 1, 6 do answer[#answer + 1] = lease[i] end
end
return answer
