-- A step through requests for a backup, in the form in which they are restored. Those whose record was deleted by hand are
-- left out.
-- Atomic: what several keys hold of a request belongs together.
--
-- args: place: queue | suspects | delayed | leases · cursor of its SCAN · count
-- Returns by name: cursor of the next step; requests: { id, domain, priority, arrival (µs), due at (ms; null: pending), crashes,
--   record }; bytes of all their records. O(count + bytes).
local SORT_KEY, NEWEST = 32, 9007199254740992

-- An entry of a place, and its score or value: as id, order, domain and, if it is delayed, the instant when it is due. Nil for
-- what cannot be read, here and below.
local function entryOf(entry, score)
  if #entry < SORT_KEY then return nil end
  return { id = queue.idOf(entry), order = queue.orderOf(entry), domain = queue.domainOf(entry), dueAt = score }
end

local readers = {
  queue = function(member)
    local read = entryOf(string.sub(member, -SORT_KEY))
    if read then read.domain = string.sub(member, 1, -SORT_KEY - 2) end
    return read
  end,
  suspects = function(entry) return entryOf(entry) end,
  delayed = entryOf,
  leases = function(id, packed)
    local lease = leaseRecords.unpack(packed)
    return lease and { id = id, order = lease.order, domain = lease.domain }
  end,
}

-- Priority and arrival, the reverse of queue.order. FIFO and LIFO have no priorities.
local function readOrder(crawl, waiting)
  local rank, arrival = struct.unpack('>I5I7', waiting.order)
  local class = not waiting.dueAt and meta.get(crawl, 'queue')
  if class == 'FifoQueue' then return 0, arrival end
  if class == 'LifoQueue' then return 0, NEWEST - arrival end
  return 2147483648 - rank, arrival
end

verbs.register('read_requests', { 'no-writes' }, function(crawl, args)
  local at, ids, waiting, requests, bytes = crawl.keys, {}, {}, {}, 0
  local scan = args.place == 'leases' and 'HSCAN' or 'ZSCAN'
  local page = redis.call(scan, at[args.place], args.cursor, 'COUNT', lists.digits(args.count))
  for i = 1, #page[2], 2 do
    local read = readers[args.place](page[2][i], page[2][i + 1])
    if read then ids[#ids + 1], waiting[#waiting + 1] = read.id, read end
  end
  local records, crashes = lists.read('HMGET', at.requests, ids), lists.read('HMGET', at.crashes, ids)
  for i, request in ipairs(waiting) do
    if records[i] then
      local priority, arrival = readOrder(crawl, request)
      requests[#requests + 1] =
        { request.id, request.domain, priority, arrival, request.dueAt or false, crashes[i] or 0, storedRecord.json(records[i]) }
      bytes = bytes + #records[i]
    end
  end
  return verbs.named({ cursor = page[1], requests = requests, bytes = bytes })
end)
