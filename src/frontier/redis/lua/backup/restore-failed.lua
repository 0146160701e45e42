-- Restore requests of the failed list. One that is live already stays as it is.
-- Atomic: a request is in one state at any instant, and counted once.
--
-- args (and those of restoring.lua): requests: { id, atUs, failure: JSON of why, crashes, record: absent when it was not
--   kept }
-- Returns as restoring.lua says. O(n log m).
verbs.register('restore_failed', {}, function(crawl, args)
  return restoring.apply(crawl, function()
    local at, count = crawl.keys, 0
    for _, request in ipairs(args.requests) do
      local id = request.id
      if not restoring.isLive(crawl, id) then
        redis.call('ZADD', at.failed, request.atUs, id)
        redis.call('HSET', at.failures, id, request.failure)
        if request.crashes > 0 then redis.call('HSET', at.crashes, id, request.crashes) end
        if request.record then redis.call('HSET', at.requests, id, request.record) end
        count = count + 1
      end
    end
    meta.add(crawl, 'accepted', count)
  end)
end)
