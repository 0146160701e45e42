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

local function enqueue(name, order, id)
  local d = domainOf(name)
  insert(d, order, id)
  if d.head == '' or isBefore(order, d.head) then d.head, d.moved = order, true end
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
