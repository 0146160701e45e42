-- How requests are taken out of the queue and become leases: best first over all domains, as their delays and limits allow.
-- uses: nodes leases

local PROMOTE = 200
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
