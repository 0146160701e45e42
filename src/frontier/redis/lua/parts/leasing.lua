-- How requests are leased, and how the crawl is said to stand: what lease.lua and turn.lua have in common, ARGV 4–7
-- included. Order, delays and concurrency hold for all nodes together because they are decided here, on one clock.
-- uses: nodes answers leases completion limits

local PROMOTE = 200
local MAX_LEASES = 1000
local LOOK_AT_SUSPECTS = 100
local MAX_SKIPPED = 1000
local HUNGRY_MS = 300

-- Each lease { id, token, domain, delay, crashes }, and its request's record.
local leases, records = {}, {}
local stoodBack, skipped = false, 0

local function promoteDelayed()
  if call('ZCARD', delayedKey) == 0 then return end
  local due = call('ZRANGEBYSCORE', delayedKey, '-inf', nowMs, 'LIMIT', 0, PROMOTE)
  for _, member in ipairs(due) do
    call('ZREM', delayedKey, member)
    local id = sub(member, 1, 20)
    local crashes = tonumber(call('HGET', crashesKey, id) or 0)
    requeue(sub(member, 26), orderOf(sub(member, 21, 25), takeArrival()), id, crashes)
  end
end

local function promoteWaiting()
  if call('ZCARD', waitingKey) == 0 then return end
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
      local nth = #leases + 1
      local token = ARGV[2] .. '.' .. nth
      packed[#packed + 1] = id
      packed[#packed + 1] = packLease(token, incarnation, order, name, crashes)
      leases[nth], records[nth] = { id, token, name, delayOf(politenessOf(d)), crashes }, record
      noteLife(id, 'leased')
    else
      d.active = d.active - 1
      move(d)
      setMeta('removed', number('removed') + 1)
      skipped = skipped + 1
    end
  end
  chunked('HSET', leasesKey, packed)
end

-- nth: how many were leased before it, so that the delays of one call differ.
local function startClock(d, delay, nth)
  local politeness = itsPoliteness(d)
  politeness.lastAt = nowMs
  if delay == 0 then return end
  local factor = meta.randomize == '1' and 1 + ((tonumber(ARGV[6]) + nth * 0.618) % 1) / 2 or 1
  politeness.nextAt = nowMs + floor(delay * factor)
end

-- A site whose concurrency is smaller than one node's would stay with the node that came first, since its next lease
-- follows its settle at once. So a node that got less than it asked for says so, and one that holds more than its
-- share of the leases stands back for a moment. With a delay the clock shares the site out by itself.
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

-- A domain gives as many in a row as go before the rival, the next domain's best, and fit its own limits. It may have been
-- ready when its limit was another, or the clock.
local function takeFrom(name, d, rival, room, taken)
  local delay = delayOf(politenessOf(d))
  local capacity = dueAt(d) <= nowMs and math.min(delay > 0 and 1 or room, number('limit', 8) - d.active) or 0
  for i = 1, capacity do
    local order = d.head
    if order == '' or (i > 1 and rival and isBefore(rival, order)) then break end
    local id = pop(d)
    if id then
      taken[#taken + 1] = { id, order, name, d, 0 }
      d.active = d.active + 1
    end
  end
  if capacity > 0 then startClock(d, delay, #leases + #taken) end
  place(d)
end

-- How many of the sorted orders, the first `from` of them aside, are not behind this one. Most often it goes last.
local function placeAmong(orders, from, order)
  local low, high = from, #orders
  if low < high and isBefore(orders[high], order) then return high end
  while low < high do
    local middle = floor((low + high) / 2)
    if isBefore(orders[middle + 1], order) then low = middle + 1 else high = middle end
  end
  return low
end

-- Takes the best requests of the ready domains. These are read once, one more than can be needed, and kept in order here.
local function takeBest(room)
  savePlaces()
  local orders, names, taken = {}, {}, {}
  for i, member in ipairs(call('ZRANGE', readyKey, 0, room)) do
    orders[i], names[i] = sub(member, 1, ORDER), sub(member, ORDER + 1)
  end
  loadDomains(names)
  local isAll, met = #orders <= room, 0
  while met < #orders and #taken < room do
    met = met + 1
    local order, name = orders[met], names[met]
    local d = domainOf(name)
    if d.place ~= 'r' or d.key ~= order then
      -- Somebody deleted the domain's record: without this the entry would be met for ever.
      call('ZREM', readyKey, order .. name)
    else
      takeFrom(name, d, orders[met + 1], room - #taken, taken)
      local before = d.place == 'r' and placeAmong(orders, met, d.key)
      -- Behind the last one there may be others that go before it.
      if before and (isAll or before < #orders) then
        table.insert(orders, before + 1, d.key)
        table.insert(names, before + 1, name)
      end
    end
  end
  leaseAll(taken)
  return met > 0
end

-- The first suspect whose domain may be leased from; a domain that must wait is put among the waiting, so that it is
-- known when to ask again.
local function eligibleSuspect()
  for _, member in ipairs(call('ZRANGE', suspectsKey, 0, LOOK_AT_SUSPECTS - 1)) do
    local name = sub(member, 33)
    local d = domainOf(name)
    if dueAt(d) > nowMs then
      if d.place ~= 'w' then place(d) end
    elseif d.active < number('limit', 8) then
      return member
    end
  end
  return nil
end

local function takeSuspect(member)
  local name, id = sub(member, 33), sub(member, 13, 32)
  local d = domainOf(name)
  call('ZREM', suspectsKey, member)
  d.active = d.active + 1
  leaseAll({ { id, sub(member, 1, ORDER), name, d, tonumber(call('HGET', crashesKey, id) or 1) } })
  startClock(d, delayOf(politenessOf(d)), 0)
  place(d)
end

-- One incarnation at a time volunteers for the suspects: it empties itself, then processes them one by one alone.
local function volunteers()
  local volunteer = meta.volunteer
  if volunteer and volunteer ~= '' and volunteer ~= incarnation and isLive(volunteer) then return false end
  local isBusy = tonumber(call('HGET', heldKey, incarnation) or 0) > 0 or tonumber(ARGV[5]) > 0
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

-- Somebody typed DEL: what the queue held is counted as removed, or the crawl would wait for it for ever.
local function forgetLostQueue()
  if number('pending') == 0 or pendingChange ~= 0 or call('EXISTS', queueKey) == 1 then return end
  setMeta('removed', number('removed') + number('pending'))
  setMeta('pending', 0)
end

local function stateOf(waitMs)
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

local function takeWhatIsFree(wanted)
  promoteDelayed()
  promoteWaiting()
  local budget = budgetsOf(meta.budgets).pages
  local room = budget > 0 and math.min(wanted, math.max(0, budget - number('run_pages'))) or wanted
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
    keepAnswer(cmsgpack.pack(leases))
  end
end

-- Leases as many as are asked for, or those of this call's first answer. Returns what the header of lease.lua says.
local function answerLeases()
  local wanted, waitMs = math.min(tonumber(ARGV[4]), MAX_LEASES), 1000
  closeWhenSpent()
  local isOpen = meta.control == 'running' and (not meta.closing or meta.closing == '')
  local first = firstAnswer()
  if first then
    leases = cmsgpack.unpack(first)
    for nth, lease in ipairs(leases) do records[nth] = call('HGET', requests, lease[1]) or '' end
  elseif isOpen and wanted > 0 then
    takeWhatIsFree(wanted)
  end
  savePlaces()
  if isOpen then waitMs = (wanted > 0 and #leases == wanted and call('ZCARD', readyKey) > 0) and 0 or nextInstant() end
  local answer = stateOf(waitMs)
  for nth, lease in ipairs(leases) do
    local at = 8 + 6 * (nth - 1)
    for i = 1, 5 do answer[at + i] = lease[i] end
    answer[at + 6] = records[nth]
  end
  return answer
end
