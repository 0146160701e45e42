-- How requests are taken out of the queue and become leases: best first over all domains, as their delays and limits
-- allow.
-- uses: taking-texts

local PROMOTE, HUNGRY_MS = 200, 300
local stoodBack, isMoreReady = false, false

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
    placeDomain(d)
  end
end

local function promoteWhatIsDue() -- rarely: aside
  promoteDelayed()
  promoteWaiting()
end

-- A site whose concurrency is smaller than one node's would stay with the node that came first, since its next lease
-- follows its settle at once. So a node that got less than it asked for says so, and one that holds more than its
-- share of the leases stands back for a moment. With a delay the clock shares the site out by itself.
local function standsBack() -- rarely: seldom
  if meta.hungry == incarnation or nowMs - number('hungry_at') > HUNGRY_MS then return false end
  return tonumber(call('HGET', heldKey, incarnation) or 0) * call('ZCARD', nodesKey) > call('HLEN', leasesKey)
end

local function noteHunger(satisfied) -- rarely: seldom
  if not satisfied then
    setMeta('hungry', incarnation)
    setMeta('hungry_at', nowMs)
  elseif meta.hungry == incarnation then
    setMeta('hungry', '')
  end
end

-- How many of the sorted priorities and arrivals, the first `from` of them aside, do not go behind this one. Most often
-- it goes last.
local function placeAmong(priorities, arrivals, from, priority, arrival) -- rarely: unpacked
  local low, high = from, #priorities
  while low < high do
    local middle = high == #priorities and high - 1 or floor((low + high) / 2)
    local p = priorities[middle + 1]
    if p < priority or (p == priority and arrivals[middle + 1] < arrival) then low = middle + 1 else high = middle end
  end
  return low
end

-- The first chunks of domains that are about to give, `from` to `to`.
local function loadFirsts(names, from, to) -- rarely: unpacked
  local ds, bounds = {}, {}
  for i = from, to do
    ds[#ds + 1], bounds[#bounds + 1] = domainOf(names[i]), ''
  end
  loadChunks(ds, bounds)
end

-- Takes from a ready domain that is unpacked. Returns how many, none where somebody has deleted the domain's record, and
-- its order where it is ready still.
local function takeUnpacked(name, member, most, limit, rivalPriority, rivalArrival) -- rarely: unpacked
  local order, d = sub(member, 1, ORDER), domainOf(name)
  if d[PLACE] ~= 'r' or d[KEY] ~= order then return 0 end
  local given, delay, priority, arrival = 0, delayOf(d), nil, nil
  local capacity = dueAt(d) > nowMs and 0 or min(delay > 0 and 1 or most, limit - d[ACTIVE])
  for i = 1, capacity do
    if i > 1 and rivalPriority and (rivalPriority < priority or (rivalPriority == priority and rivalArrival < arrival)) then break end
    local id = pop(d)
    if id then
      local n = #ids + 1
      given = given + 1
      ids[n], members[n], takenFrom[n] = id, order .. name, name
      d[ACTIVE] = d[ACTIVE] + 1
    end
    order = d[HEAD]
    if order == '' then break end
    priority, arrival = decode('>I5I7', order)
  end
  if capacity > 0 then startClock(d, delay) end
  placeDomain(d)
  if d[PLACE] ~= 'r' then return given end
  return given, order, priority, arrival
end

-- Takes the best requests of the ready domains. These are read once, one more than can be needed, and kept in order
-- here.
-- A domain gives as many in a row as go before the rival, the next domain's best, and fit its own limits. It may have
-- been ready when its limit was another, or the clock. Where there are more of them than are asked for, each gives but
-- once, most often: they stay packed. Those that have been met leave the ready ones all at once, and come back as they
-- are then.
local function takeBest(room)
  savePlaces()
  local inOrder = call('ZRANGE', readyKey, '0', inDigits(room))
  local ready, from, given, met, metAgain, loadedTo = #inOrder, #ids, 0, 0, 0, 0
  if from == 0 then ids, members, takenFrom = roomFor(room), roomFor(room), roomFor(room) end
  -- Lists of their size at once: one that grows to 16 is made six times.
  local names, texts, priorities, arrivals = { unpack(inOrder) }, { unpack(inOrder) }, { unpack(inOrder) }, { unpack(inOrder) }
  for i = 1, ready do
    local member = inOrder[i]
    names[i], texts[i], priorities[i], arrivals[i] = sub(member, ORDER + 1), false, decode('>I5I7', member)
  end
  loadDomains({ unpack(names) }, true)
  local limit, isAll = number('limit', 8), ready <= room
  local mayStayPacked = not isAll and number('delay') == 0
  if mayStayPacked then newcomers = roomFor(2 * room) end
  while met < ready and given < room do
    -- Of the first domain, which may give everything, then of four times as many as have given, while they can be needed.
    -- (One reading for each would cost 0.3 µs, and one of all ready domains 11 where a single one gives everything.)
    if met >= loadedTo then
      loadedTo = met == 0 and 1 or min(4 * met + 4, met + room - given, #names)
      if mayStayPacked then loadTexts(names, texts, met + 1, loadedTo) else loadFirsts(names, met + 1, loadedTo) end
    end
    local order, priority, arrival
    local metBefore = met
    if mayStayPacked then
      met, order, priority, arrival = takeFromTexts(inOrder, names, texts, priorities, arrivals, met, loadedTo, from + room, limit)
      given = #ids - from
    end
    if met == metBefore then
      met = met + 1
      local name, text, n = names[met], texts[met], 0
      n, order, priority, arrival = takeUnpacked(name, inOrder[met], room - given, limit, priorities[met + 1], arrivals[met + 1])
      given = given + n
      local d = domains[name]
      if text == AGAIN then metAgain = metAgain + 1 elseif d[STORED_KEY] .. name == inOrder[met] then d[STORED_KEY] = '' end
    end
    -- Behind the last one there may be others that go before it.
    if order and (isAll or priority < priorities[ready] or (priority == priorities[ready] and arrival < arrivals[ready])) then
      local name, before = names[met], placeAmong(priorities, arrivals, met, priority, arrival)
      ready = ready + 1
      table.insert(inOrder, before + 1, order .. name)
      table.insert(names, before + 1, name)
      table.insert(texts, before + 1, AGAIN)
      table.insert(priorities, before + 1, priority)
      table.insert(arrivals, before + 1, arrival)
    end
  end
  if met > metAgain then call('ZREMRANGEBYRANK', readyKey, '0', inDigits(met - metAgain - 1)) end
  isMoreReady = met < ready
  leaseTaken(from, 0)
  return met > 0
end
