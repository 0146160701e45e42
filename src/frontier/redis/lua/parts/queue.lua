-- The order of requests, and the ways into the queue.
-- uses: meta placing appending

local function takeArrival()
  local arrival = max(number('arrival') + 1, nowUs)
  setMeta('arrival', arrival)
  return arrival
end

local NO_PRIORITY, NEWEST = '\0\0\0\0\0', 9007199254740992

-- priority: 5 bytes of 2^31 - priority, so that a higher one sorts first.
local function orderOf(priority, arrival)
  if meta.queue == 'FifoQueue' then return NO_PRIORITY .. encode('>I7', arrival) end
  if meta.queue == 'LifoQueue' then return NO_PRIORITY .. encode('>I7', NEWEST - arrival) end
  return priority .. encode('>I7', arrival)
end

-- run: the priority of one that arrives now; nil of one that comes back with its old arrival, and where the newest is
-- first.
local function enqueue(d, entry, run)
  local isLast = insert(d, entry, run)
  if d[HEAD] == '' or (not isLast and isBefore(entry, d[HEAD])) then
    d[HEAD] = sub(entry, 1, ORDER)
    move(d)
  end
end

-- Requests that arrive now: the number of the domain among the names, priority and id of one after the other, `count`
-- values.
local function enqueueAll(new, count, names)
  local isLifo, isOrdered = meta.queue == 'LifoQueue', meta.queue ~= 'FifoQueue' and meta.queue ~= 'LifoQueue'
  local slots, wanted, counts, priorities, n = {}, {}, {}, {}, 0
  for i = 1, count, 3 do
    if not isOrdered then new[i + 1] = NO_PRIORITY end
    local name, priority = names[new[i]], new[i + 1]
    local slot = slots[name]
    if slot then
      counts[slot] = counts[slot] + 1
      if priorities[slot] ~= priority then priorities[slot] = false end
    else
      n = n + 1
      slot = n
      slots[name], wanted[n], counts[n], priorities[n] = n, name, 1, priority
    end
    new[i] = slot
  end
  local fields, texts, ds = endsToAppendTo(wanted, counts, priorities)
  local arrival = number('arrival')
  for i = 1, count, 3 do
    local slot, priority = new[i], new[i + 1]
    arrival = arrival < nowUs and nowUs or arrival + 1
    local text, entry = texts[slot], encode('>c5I7c20', priority, isLifo and NEWEST - arrival or arrival, new[i + 2])
    if not text then
      enqueue(ds[slot], entry, not isLifo and priority or nil)
    elseif counts[slot] == 1 then
      texts[slot] = text .. entry
    elseif type(text) == 'string' then
      texts[slot] = { text, entry }
    else
      text[#text + 1] = entry
    end
  end
  appendAll(wanted, fields, texts, counts)
  setMeta('arrival', arrival)
end

-- Suspects wait apart from the domain queues, and are leased alone.
local function requeue(name, order, id, crashes)
  if crashes > 0 then
    call('ZADD', suspectsKey, 0, order .. id .. name)
  else
    enqueue(domainOf(name), order .. id)
  end
end

local function park(name, priority, id, dueMs) call('ZADD', delayedKey, dueMs, id .. priority .. name) end
