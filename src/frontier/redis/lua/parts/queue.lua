-- The order of requests, and the ways into the queue.
-- uses: meta domains

local function takeArrival()
  local arrival = math.max(number('arrival') + 1, nowUs)
  setMeta('arrival', arrival)
  return arrival
end

local NO_PRIORITY = '\0\0\0\0\0'

-- priority: 5 bytes of 2^31 - priority, so that a higher one sorts first.
local function orderOf(priority, arrival)
  if meta.queue == 'FifoQueue' then return NO_PRIORITY .. struct.pack('>I7', arrival) end
  if meta.queue == 'LifoQueue' then return NO_PRIORITY .. struct.pack('>I7', 9007199254740992 - arrival) end
  return priority .. struct.pack('>I7', arrival)
end

-- run: the priority of one that arrives now; nil of one that comes back with its old arrival, and where the newest is first.
local function enqueue(name, order, id, run)
  local d = domainOf(name)
  local isLast = insert(d, order, id, run)
  if d[HEAD] == '' or (not isLast and isBefore(order, d[HEAD])) then
    d[HEAD] = order
    move(d)
  end
end

local function enqueueNew(name, priority, id)
  enqueue(name, orderOf(priority, takeArrival()), id, meta.queue == 'PriorityQueue' and priority or meta.queue == 'FifoQueue' and NO_PRIORITY or nil)
end

-- Requests that arrive now: domain name, priority and id of one after the other, `count` texts.
local function enqueueAll(new, count)
  local names, ds, known = {}, {}, {}
  for i = 1, count, 3 do
    if not known[new[i]] then
      known[new[i]] = true
      names[#names + 1] = new[i]
    end
  end
  loadDomains(names)
  for i, name in ipairs(names) do ds[i] = domainOf(name) end
  loadEnds(ds)
  for i = 1, count, 3 do enqueueNew(new[i], new[i + 1], new[i + 2]) end
end

-- Suspects wait apart from the domain queues, and are leased alone.
local function requeue(name, order, id, crashes)
  if crashes > 0 then
    call('ZADD', suspectsKey, 0, order .. id .. name)
  else
    enqueue(name, order, id)
  end
end

local function park(name, priority, id, dueMs) call('ZADD', delayedKey, dueMs, id .. priority .. name) end
