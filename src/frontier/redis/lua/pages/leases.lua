-- Leases: granting, ending and returning them, failing their requests, and finding those of a node.
--
-- A record (HASH `leases`, MessagePack by name): node: the incarnation that holds it · call: number of the call that
-- created it · atMs · order, domain: where the request came from in the queue · crashes.
-- Its fencing token is call number and request id: one call leases a request at most once.

-- Creates leases for requests that were taken out of the queue: { { id, order, domain }, … }.
function leases.grant(crawl, taken, crashes)
  local packed = {}
  for _, request in ipairs(taken) do
    packed[#packed + 1] = request.id
    packed[#packed + 1] = cmsgpack.pack({ node = crawl.caller, call = crawl.args.call, atMs = crawl.nowMs,
      order = request.order, domain = request.domain, crashes = crashes })
  end
  lists.send('HSET', crawl.keys.leases, packed)
  redis.call('HINCRBY', crawl.keys.held, crawl.caller, lists.digits(#taken))
end

-- The leases of these ids, in order; false where there is none.
function leases.read(crawl, ids)
  local found = lists.read('HMGET', crawl.keys.leases, ids)
  for i = 1, #found do found[i] = found[i] and cmsgpack.unpack(found[i]) end
  return found
end

-- The leases of an incarnation, up to `most`, as { id, lease }, by a walk over all: leases are few (nodes × concurrency).
function leases.of(crawl, node, most)
  local found, cursor = {}, '0'
  repeat
    local page = redis.call('HSCAN', crawl.keys.leases, cursor, 'COUNT', 500)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local lease = cmsgpack.unpack(page[2][i + 1])
      if lease.node == node and #found < most then found[#found + 1] = { page[2][i], lease } end
    end
  until cursor == '0' or #found >= most
  return found
end

-- Deletes leases and releases the capacity of their nodes and domains. The caller moves the requests to their next state.
function leases.finish(crawl, ids, ended)
  local names, held = {}, {}
  for i, lease in ipairs(ended) do
    names[i] = lease.domain
    held[lease.node] = (held[lease.node] or 0) + 1
  end
  lists.send('HDEL', crawl.keys.leases, ids)
  for node, count in pairs(held) do redis.call('HINCRBY', crawl.keys.held, node, lists.digits(-count)) end
  domains.load(crawl, names)
  for _, name in ipairs(names) do domains.release(crawl, name) end
end

-- Returns the requests of leases to pending with their old arrival. Nothing is counted.
function leases.returnToQueue(crawl, ids, ended)
  leases.finish(crawl, ids, ended)
  for i, lease in ipairs(ended) do queue.makePending(crawl, lease.domain, lease.order .. ids[i], lease.crashes) end
  state.note(crawl, ids, 'pending')
end

-- Moves a request to the failed list, and counts it for the run. failure: JSON of why. Beyond FAILED_LIMIT the record is
-- dropped.
function leases.fail(crawl, id, failure)
  meta.add(crawl, 'run_failed', 1)
  redis.call('ZADD', crawl.keys.failed, crawl.nowUs, id)
  redis.call('HSET', crawl.keys.failures, id, failure)
  if redis.call('ZCARD', crawl.keys.failed) > meta.number(crawl, 'failed_limit', 100000) then
    redis.call('HDEL', crawl.keys.requests, id)
  end
end
