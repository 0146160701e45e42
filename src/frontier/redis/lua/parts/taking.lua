-- How requests are taken out of the queue and become leases: best first over all domains, as their delays and limits allow.
-- uses: nodes leases

local PROMOTE = 200
local HUNGRY_MS = 300

-- answer: what lease.lua returns, its head to be filled in last; ids: of the leases in it.
local answer, ids = { 0, 0, 0, 0, 0, 0, 0, 0 }, {}
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
    if d[PLACE] ~= 'w' then call('ZREM', waitingKey, name) end
    place(d)
  end
end

local function answerLease(id, token, name, delay, crashes, record)
  local at = #answer
  answer[at + 1], answer[at + 2], answer[at + 3], answer[at + 4], answer[at + 5], answer[at + 6] = id, token, name, delay, crashes, record
  ids[#ids + 1] = id
end

-- Requests that are taken out of the queue, by id, order, domain's name and domain, become leases. One whose record is
-- gone, since somebody typed DEL, is skipped and counted.
local function leaseAll(taken, orders, names, ds, crashes)
  local packed, n, common, prefix = {}, 0, packCommon(incarnation, crashes), ARGV[2] .. '.'
  local records = fetched('HMGET', requests, taken)
  for i = 1, #taken do
    local id, d, record = taken[i], ds[i], records[i]
    if record then
      local token = prefix .. #ids + 1
      packed[n + 1], packed[n + 2] = id, packLease(common, orders[i], token, names[i])
      n = n + 2
      answerLease(id, token, names[i], delayOf(d), crashes, record)
      noteLife(id, 'leased')
    else
      d[ACTIVE] = d[ACTIVE] - 1
      move(d)
      setMeta('removed', number('removed') + 1)
      skipped = skipped + 1
    end
  end
  chunked('HSET', leasesKey, packed)
end

local nowInBytes

-- nth: how many were leased before it, so that the delays of one call differ.
local function startClock(d, delay, nth)
  nowInBytes = nowInBytes or encode('>I6', nowMs)
  d[LAST_AT], d[TOUCHED] = nowInBytes, true
  if delay == 0 then return end
  local factor = meta.randomize == '1' and 1 + ((tonumber(ARGV[6]) + nth * 0.618) % 1) / 2 or 1
  itsPoliteness(d).nextAt = nowMs + floor(delay * factor)
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

-- How many of the sorted priorities and arrivals, the first `from` of them aside, do not go behind this one. Most often it
-- goes last.
local function placeAmong(priorities, arrivals, from, priority, arrival)
  local low, high = from, #priorities
  while low < high do
    local middle = high == #priorities and high - 1 or floor((low + high) / 2)
    local p = priorities[middle + 1]
    if p < priority or (p == priority and arrivals[middle + 1] < arrival) then low = middle + 1 else high = middle end
  end
  return low
end

-- The first chunks of domains that are about to give, twice as many as have given so far: one reading for each would cost
-- 0.3 µs, and one of all ready domains 11 where a single one gives everything.
local function loadFirsts(names, from)
  local ds, fields, n = {}, {}, 0
  for i = from, min(2 * from - 1, #names) do
    local d = domainOf(names[i])
    local prefix = d[PREFIX]
    if not d[FIRST] and not appended[prefix] then
      n = n + 1
      ds[n], fields[n] = d, prefix
    end
  end
  local texts = fetched('HMGET', queueKey, fields)
  for i = 1, n do keepChunk(ds[i], fields[i], '', texts[i] or '') end
end

-- Takes the best requests of the ready domains. These are read once, one more than can be needed, and kept in order here.
-- A domain gives as many in a row as go before the rival, the next domain's best, and fit its own limits. It may have been
-- ready when its limit was another, or the clock.
local function takeBest(room)
  savePlaces()
  local taken, orders, takenFrom, ds, n = {}, {}, {}, {}, 0
  local members = call('ZRANGE', readyKey, 0, room)
  local ready = #members
  -- Lists of their size at once: one that grows to 16 is made six times.
  local names, priorities, arrivals = { unpack(members) }, { unpack(members) }, { unpack(members) }
  for i = 1, ready do
    local member = members[i]
    names[i], priorities[i], arrivals[i] = sub(member, ORDER + 1), decode('>I5I7', member)
  end
  loadDomains(names)
  local limit, isAll, met, loaded = number('limit', 8), ready <= room, 0, 1
  while met < ready and n < room do
    met = met + 1
    if met == 2 * loaded then
      loaded = met
      loadFirsts(names, met)
    end
    local name = names[met]
    local order, d = sub(members[met], 1, ORDER), domains[name] or domainOf(name)
    if d[PLACE] ~= 'r' or d[KEY] ~= order then
      -- Somebody deleted the domain's record: without this the entry would be met for ever.
      call('ZREM', readyKey, order .. name)
    else
      local priority, arrival, delay = priorities[met], arrivals[met], delayOf(d)
      local capacity = dueAt(d) > nowMs and 0 or min(delay > 0 and 1 or room - n, limit - d[ACTIVE])
      local rivalPriority, rivalArrival = priorities[met + 1], arrivals[met + 1]
      for i = 1, capacity do
        if i > 1 and rivalPriority and (rivalPriority < priority or (rivalPriority == priority and rivalArrival < arrival)) then break end
        local id = pop(d)
        if id then
          n = n + 1
          taken[n], orders[n], takenFrom[n], ds[n] = id, order, name, d
          d[ACTIVE] = d[ACTIVE] + 1
        end
        order = d[HEAD]
        if order == '' then break end
        priority, arrival = decode('>I5I7', order)
      end
      if capacity > 0 then startClock(d, delay, #ids + n) end
      place(d)
      local before = d[PLACE] == 'r' and placeAmong(priorities, arrivals, met, priority, arrival)
      -- Behind the last one there may be others that go before it.
      if before and (isAll or before < ready) then
        ready = ready + 1
        table.insert(members, before + 1, order .. name)
        table.insert(names, before + 1, name)
        table.insert(priorities, before + 1, priority)
        table.insert(arrivals, before + 1, arrival)
      end
    end
  end
  leaseAll(taken, orders, takenFrom, ds, 0)
  return met > 0
end
