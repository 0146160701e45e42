-- A step of a repair: puts requests with a record into the queue again, or onto the failed list if they had failed or their
-- record cannot be read.
-- Atomic, and harmless when repeated: an id that was dealt with before (`repaired`) is skipped.
--
-- args: requests: { id, domain, priority, arrival (µs) }, the last three absent where the record cannot be read ·
--   unreadable: JSON of why such a one failed
-- Returns how many were put into the queue. O(n log m).
verbs.register('repair_requeue', { 'crawl' }, function(crawl, args)
  local at, queued = crawl.keys, 0
  for _, request in ipairs(args.requests) do
    local id = request.id
    local isMissing = redis.call('HEXISTS', at.requests, id) == 1 and redis.call('SADD', at.repaired, id) == 1
    if isMissing and not redis.call('ZSCORE', at.failed, id) then
      if redis.call('HEXISTS', at.failures, id) == 1 then
        redis.call('ZADD', at.failed, crawl.nowUs, id)
      elseif not request.domain then
        leaseRecords.fail(crawl, id, args.unreadable)
      else
        local sortKey = queue.order(crawl, request.priority, request.arrival) .. id
        queue.makePending(crawl, request.domain, sortKey, tonumber(redis.call('HGET', at.crashes, id) or 0) or 0)
        queued = queued + 1
      end
    end
  end
  return queued
end)
