-- A step of a repair: puts requests where their records say. A request that failed goes onto the failed list, and so does one
-- whose record cannot be read. A delayed one is delayed until the same instant, any other is pending in its old order.
-- Atomic, and harmless when repeated: the place of a request follows from its record alone.
--
-- args: requests: { id, domain, priority }, the last two absent where the record cannot be read · unreadable: JSON of why such
--   a one failed
-- Returns nothing. O(n log m).
verbs.register('repair_put', { 'crawl' }, function(crawl, args)
  local at, ids = crawl.keys, {}
  for i, request in ipairs(args.requests) do ids[i] = request.id end
  local stored, failed = lists.read('HMGET', at.requests, ids), lists.read('ZMSCORE', at.failed, ids)
  local failures, crashes = lists.read('HMGET', at.failures, ids), lists.read('HMGET', at.crashes, ids)
  for i, request in ipairs(args.requests) do
    local id, domain, priority = request.id, request.domain, request.priority
    if stored[i] and not failed[i] then
      local arrival, dueAt = storedRecord.times(stored[i])
      if failures[i] then
        redis.call('ZADD', at.failed, crawl.wallUs, id)
      elseif not domain then
        leaseRecords.fail(crawl, id, args.unreadable)
      elseif dueAt and dueAt > 0 then
        queue.delay(crawl, domain, priority, id, dueAt, arrival)
      else
        if not arrival then
          arrival = queue.nextArrival(crawl)
          redis.call('HSET', at.requests, id, storedRecord.pack(stored[i], arrival))
        end
        queue.makePending(crawl, domain, queue.order(crawl, priority, arrival) .. id, tonumber(crashes[i] or 0) or 0)
      end
    end
  end
end)
