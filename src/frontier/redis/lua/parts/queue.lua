-- The order of requests, and the ways into the queue.
-- uses: meta domains

local function takeArrival()
  local arrival = math.max(number('arrival') + 1, nowUs)
  setMeta('arrival', arrival)
  return arrival
end

local NO_PRIORITY, NEWEST = '\0\0\0\0\0', 9007199254740992

-- priority: 5 bytes of 2^31 - priority, so that a higher one sorts first.
local function orderOf(priority, arrival)
  if meta.queue == 'FifoQueue' then return NO_PRIORITY .. struct.pack('>I7', arrival) end
  if meta.queue == 'LifoQueue' then return NO_PRIORITY .. struct.pack('>I7', NEWEST - arrival) end
  return priority .. struct.pack('>I7', arrival)
end

-- run: the priority of one that arrives now; nil of one that comes back with its old arrival, and where the newest is first.
local function enqueue(d, entry, run)
  local isLast = insert(d, entry, run)
  if d[HEAD] == '' or (not isLast and isBefore(entry, d[HEAD])) then
    d[HEAD] = sub(entry, 1, ORDER)
    move(d)
  end
end

-- Requests that arrive now: the number of the domain among the names, priority and id of one after the other, `count` values.
local function enqueueAll(new, count, names)
  local wanted, numbers, ds, byNumber, n = {}, {}, {}, {}, 0
  for i = 1, count, 3 do
    local index = new[i]
    if not byNumber[index] then
      n = n + 1
      byNumber[index], numbers[n], wanted[n] = true, index, names[index]
    end
  end
  loadDomains(wanted)
  for i = 1, n do
    ds[i] = domains[wanted[i]]
    byNumber[numbers[i]] = ds[i]
  end
  loadEnds(ds)
  local isFifo, isLifo, arrival = meta.queue == 'FifoQueue', meta.queue == 'LifoQueue', number('arrival')
  for i = 1, count, 3 do
    local priority = (isFifo or isLifo) and NO_PRIORITY or new[i + 1]
    arrival = math.max(arrival + 1, nowUs)
    enqueue(byNumber[new[i]], struct.pack('>c5I7c20', priority, isLifo and NEWEST - arrival or arrival, new[i + 2]), not isLifo and priority or nil)
  end
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
