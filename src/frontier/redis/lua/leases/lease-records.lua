-- Leases: granting, ending and returning them, failing their requests, and finding those of a node.
--
-- A record (HASH `leases`) is packed, as that of a domain is:
--   call      6 bytes: number of the call that created it
--   atMs      6 bytes
--   crashes   1 byte
--   order     12 bytes: with the domain, where the request came from in the queue
--   node      2 bytes of length, then the incarnation that holds it
--   domain    all that follows
-- Its fencing token is call number and request id: one call leases a request at most once.
local RECORD = '>I6I6Bc12I2c0'

local function pack(crawl, request)
  local node = crawl.caller
  return struct.pack(RECORD, crawl.args.call, crawl.nowMs, request.crashes, request.order, #node, node) .. request.domain
end

-- Nil where it cannot be read, or is nobody's.
function leaseRecords.unpack(packed)
  local call, atMs, crashes, order, node, rest = reader.unpack(RECORD, packed)
  return rest and node ~= '' and { call = call, atMs = atMs, crashes = crashes, order = order, node = node, domain = string.sub(packed, rest) }
end

-- Creates leases for requests that were taken out of the queue: { { id, order, domain, crashes }, … }.
function leaseRecords.grant(crawl, taken)
  local packed = {}
  for _, request in ipairs(taken) do lists.pair(packed, request.id, pack(crawl, request)) end
  lists.send('HSET', crawl.keys.leases, packed)
  reader.add(crawl.keys.held, crawl.caller, #taken)
end

-- The leases of these ids, in order; false where there is none, or one that cannot be read.
function leaseRecords.read(crawl, ids)
  local found = lists.read('HMGET', crawl.keys.leases, ids)
  for i = 1, #found do found[i] = found[i] and leaseRecords.unpack(found[i]) or false end
  return found
end

-- The domains of all leases, one for each lease.
function leaseRecords.domains(crawl)
  local names = {}
  for _, packed in ipairs(redis.call('HVALS', crawl.keys.leases)) do
    local lease = leaseRecords.unpack(packed)
    if lease then names[#names + 1] = lease.domain end
  end
  return names
end

-- The leases of an incarnation, up to `most`: their ids, and the leases, by a walk over all: they are few (nodes × concurrency).
-- Drops those that cannot be read. Their requests come back by their records (care/stall.lua).
function leaseRecords.of(crawl, node, most)
  local ids, found, unreadable, cursor = {}, {}, {}, nil
  while cursor ~= '0' and #found < most do
    local page = redis.call('HSCAN', crawl.keys.leases, cursor or '0', 'COUNT', 500)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local lease = leaseRecords.unpack(page[2][i + 1])
      if not lease then
        unreadable[#unreadable + 1] = page[2][i]
      elseif lease.node == node and #found < most then
        ids[#ids + 1], found[#found + 1] = page[2][i], lease
      end
    end
  end
  reader.noteUnreadable(crawl, lists.send('HDEL', crawl.keys.leases, unreadable))
  return ids, found
end

-- The one of the leases of a node that it got last; nil for none.
function leaseRecords.newest(held)
  local newest
  for _, lease in ipairs(held) do
    if not newest or lease.call > newest.call then newest = lease end
  end
  return newest
end

-- Deletes leases and releases the capacity of their nodes and domains. The caller moves the requests to their next state.
function leaseRecords.finish(crawl, ids, ended)
  local names, held = {}, {}
  for i, lease in ipairs(ended) do
    names[i] = lease.domain
    held[lease.node] = (held[lease.node] or 0) + 1
    -- The volunteer's suspect is settled: any node may be the next volunteer.
    if lease.crashes > 0 and meta.get(crawl, 'volunteer') == lease.node then meta.set(crawl, 'volunteer', '') end
  end
  domains.load(crawl, names)
  lists.send('HDEL', crawl.keys.leases, ids)
  for node, count in pairs(held) do reader.add(crawl.keys.held, node, -count) end
  for _, name in ipairs(names) do domains.release(crawl, name) end
end

-- Makes the request of a lease pending again, with its old arrival. crashes: more than the lease knows; absent for none.
function leaseRecords.release(crawl, id, lease, crashes)
  queue.makePending(crawl, lease.domain, lease.order .. id, crashes or lease.crashes)
  state.note(crawl, { id }, 'pending')
end

-- Ends leases and makes their requests pending again. Nothing is counted.
function leaseRecords.returnToQueue(crawl, ids, ended)
  leaseRecords.finish(crawl, ids, ended)
  for i, lease in ipairs(ended) do leaseRecords.release(crawl, ids[i], lease) end
end

-- Moves a request to the failed list, and counts it for the run. failure: JSON of why. Beyond FAILED_LIMIT the record is
-- dropped.
function leaseRecords.fail(crawl, id, failure)
  meta.add(crawl, 'run_failed', 1)
  redis.call('ZADD', crawl.keys.failed, crawl.wallUs, id)
  redis.call('HSET', crawl.keys.failures, id, failure)
  if redis.call('ZCARD', crawl.keys.failed) > meta.number(crawl, 'failed_limit', limits.FIRST_FAILED_LIMIT) then
    redis.call('HDEL', crawl.keys.requests, id)
  end
end
