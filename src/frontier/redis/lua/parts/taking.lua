-- How requests are taken out of the queue and become leases: best first over all domains, as their delays and limits
-- allow.
-- uses: nodes leases

local PROMOTE, HUNGRY_MS, AGAIN = 200, 300, 'again'

-- What has been taken out of the queue, in order, and becomes leases. members: order and domain, as among the ready
-- ones;
-- delays: of the domains that have one, in ms. Leases of one call have crashed equally often: a suspect is leased
-- alone.
local ids, members, takenFrom, leasedRecords, delays, crashesOfLeased = {}, {}, {}, {}, {}, 0
local stoodBack, skipped, isMoreReady = false, 0, false

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

-- One whose record is gone, since somebody typed DEL, is skipped and counted.
local function skip(n)
  local d = domainOf(table.remove(takenFrom, n))
  table.remove(ids, n)
  table.remove(members, n)
  d[ACTIVE] = d[ACTIVE] - 1
  move(d)
  setMeta('removed', number('removed') + 1)
  skipped = skipped + 1
end

-- What has been taken, the first `from` aside, becomes leases.
local function leaseTaken(from, crashes)
  crashesOfLeased = crashes
  local taken = from == 0 and ids or { unpack(ids, from + 1) }
  local found, packed, n, beginning = fetched('HMGET', requests, taken), {}, 0, beginningOfLeases(crashes)
  for i = #found, 1, -1 do
    if not found[i] then
      table.remove(found, i)
      skip(from + i)
    end
  end
  for i = from + 1, #ids do
    packed[n + 1], packed[n + 2] = ids[i], beginning .. members[i]
    n = n + 2
  end
  chunked('HSET', leasesKey, packed)
  noteLives(from == 0 and ids or { unpack(ids, from + 1) }, 'leased')
  if from == 0 then leasedRecords = found else
    for i = 1, #found do leasedRecords[from + i] = found[i] end
  end
end

local nowInBytes = encode('>I6', nowMs)

local function startClock(d, delay)
  d[LAST_AT], d[TOUCHED] = nowInBytes, true
  if delay == 0 then return end
  delays[d[DOMAIN_NAME]] = delay
  -- The delays of one call differ.
  local factor = meta.randomize == '1' and 1 + ((tonumber(ARGV[6]) + #ids * 0.618) % 1) / 2 or 1
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

-- How many of the sorted priorities and arrivals, the first `from` of them aside, do not go behind this one. Most often
-- it goes last.
local function placeAmong(priorities, arrivals, from, priority, arrival)
  local low, high = from, #priorities
  while low < high do
    local middle = high == #priorities and high - 1 or floor((low + high) / 2)
    local p = priorities[middle + 1]
    if p < priority or (p == priority and arrivals[middle + 1] < arrival) then low = middle + 1 else high = middle end
  end
  return low
end

-- The first chunks of domains that are about to give, twice as many as have given so far: one reading for each would
-- cost 0.3 µs, and one of all ready domains 11 where a single one gives everything. Those of domains that may stay
-- packed are put among the texts, where the name stands.
local function loadFirsts(names, texts, from, mayStayPacked)
  local fields, places, ds, n = {}, {}, {}, 0
  for i = from, min(2 * from - 1, #names) do
    local name = names[i]
    local packed = mayStayPacked and texts[i] ~= AGAIN and not domains[name] and records[name]
    local d = not packed and domainOf(name)
    local field = packed and sub(packed, NUMBER_AT, TAIL_AT - 1) or d[PREFIX]
    if not rewritten[field] and (packed or not d[FIRST]) then
      n = n + 1
      fields[n], places[n], ds[n] = field, i, d
    end
  end
  local found = fetched('HMGET', queueKey, fields)
  for k = 1, n do
    local d = ds[k]
    if d then keepChunk(d, fields[k], '', found[k] or '') else texts[places[k]] = found[k] end
  end
end

-- Takes from a ready domain without unpacking its record or its chunk, where nothing was ever set of its politeness and
-- the chunk need not be followed by the next one. Returns how many, and the domain's order where it is ready still; nil
-- where it has to be unpacked.
local function takeFromText(name, member, text, most, limit, rivalPriority, rivalArrival)
  local packed = records[name]
  local active, place, head, _, gone, _, tail = decode(CORE_IN_NUMBERS, packed)
  if #packed > CORE_BYTES or place ~= READY or head .. name ~= member then return nil end
  local size = #text / ENTRY
  local last = tail == NO_ORDER and size or size - 1
  if limit - active < most then most = limit - active end
  if most < 1 or gone >= last then return nil end
  local n, given, nextMember, order, priority, arrival = #ids, 0, member, '', nil, nil
  repeat
    local at = gone * ENTRY
    given, gone = given + 1, gone + 1
    ids[n + given], members[n + given], takenFrom[n + given] = sub(text, at + ORDER + 1, at + ENTRY), nextMember, name
    if gone == size then
      order = ''
      break
    end
    order = sub(text, at + ENTRY + 1, at + ENTRY + ORDER)
    nextMember, priority, arrival = order .. name, decode('>I5I7', order)
  until given == most or gone == last or rivalPriority < priority or (rivalPriority == priority and rivalArrival < arrival)
  active, pendingChange = active + given, pendingChange - given
  if gone >= MOST_GONE or order == '' then
    rewritten[sub(packed, NUMBER_AT, TAIL_AT - 1)], gone = sub(text, gone * ENTRY + 1), 0
  end
  local isReady = order ~= '' and active < limit
  records[name] = inFourBytes(active) .. (isReady and 'r' or order == '' and 'i' or 'f') .. (order == '' and NO_ORDER or order) ..
    nowInBytes .. char(gone) .. sub(packed, NUMBER_AT)
  patched[name] = true
  if not isReady then return given end
  local m = #newcomers
  newcomers[m + 1], newcomers[m + 2] = '0', nextMember
  return given, order, priority, arrival
end

-- The same of one that is unpacked; none where somebody has deleted the domain's record.
local function takeUnpacked(name, member, most, limit, rivalPriority, rivalArrival)
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
  place(d)
  if d[PLACE] ~= 'r' then return given end
  return given, order, priority, arrival
end

-- Takes the best requests of the ready domains. These are read once, one more than can be needed, and kept in order
-- here.
-- A domain gives as many in a row as go before the rival, the next domain's best, and fit its own limits. It may have
-- been ready when its limit was another, or the clock. Where there are more of them than are asked for, each gives but
-- once, most often: it stays packed. Those that have been met leave the ready ones all at once, and come back as they
-- are then.
local function takeBest(room)
  savePlaces()
  local inOrder = call('ZRANGE', readyKey, 0, room)
  local ready, from, given, met, metAgain, loaded = #inOrder, #ids, 0, 0, 0, 1
  -- Lists of their size at once: one that grows to 16 is made six times.
  local names, texts, priorities, arrivals = { unpack(inOrder) }, { unpack(inOrder) }, { unpack(inOrder) }, { unpack(inOrder) }
  for i = 1, ready do
    local member = inOrder[i]
    names[i], texts[i], priorities[i], arrivals[i] = sub(member, ORDER + 1), false, decode('>I5I7', member)
  end
  loadDomains(names)
  local limit, isAll = number('limit', 8), ready <= room
  local mayStayPacked = not isAll and number('delay') == 0
  while met < ready and given < room do
    met = met + 1
    if met == loaded then
      loadFirsts(names, texts, met, mayStayPacked)
      loaded = 2 * met
    end
    local name, text, member, rivalPriority, rivalArrival = names[met], texts[met], inOrder[met], priorities[met + 1], arrivals[met + 1]
    local n, order, priority, arrival
    if text and text ~= AGAIN and rivalPriority then
      n, order, priority, arrival = takeFromText(name, member, text, room - given, limit, rivalPriority, rivalArrival)
    end
    if not n then
      n, order, priority, arrival = takeUnpacked(name, member, room - given, limit, rivalPriority, rivalArrival)
      local d = domains[name]
      if text == AGAIN then metAgain = metAgain + 1 elseif d[STORED_KEY] .. name == member then d[STORED_KEY] = '' end
    end
    given = given + n
    -- Behind the last one there may be others that go before it.
    if order and (isAll or priority < priorities[ready] or (priority == priorities[ready] and arrival < arrivals[ready])) then
      local before = placeAmong(priorities, arrivals, met, priority, arrival)
      ready = ready + 1
      table.insert(inOrder, before + 1, order .. name)
      table.insert(names, before + 1, name)
      table.insert(texts, before + 1, AGAIN)
      table.insert(priorities, before + 1, priority)
      table.insert(arrivals, before + 1, arrival)
    end
  end
  if met > metAgain then call('ZREMRANGEBYRANK', readyKey, '0', met - metAgain - 1) end
  isMoreReady = met < ready
  leaseTaken(from, 0)
  return met > 0
end
