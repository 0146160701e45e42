-- Restore pending requests with their old arrivals, and delayed ones with their old due times. One that is live already stays
-- as it is.
-- Atomic: a request is in one state at any instant, and counted once.
--
-- args (and those of restoring.lua): requests: { id, domain, priority, arrival (µs), dueAtMs (0: pending), crashes, record }
-- Returns as restoring.lua says. O(n log m) for n requests on m pending.
verbs.register('restore_requests', {}, function(crawl, args)
  return restoring.apply(crawl, function()
    local records, crashed, isTaken, latest = {}, {}, {}, meta.number(crawl, 'arrival')
    for _, request in ipairs(args.requests) do
      local id = request.id
      if not isTaken[id] and not restoring.isLive(crawl, id) then
        isTaken[id] = true
        records[#records + 1] = id
        records[#records + 1] = request.record
        if request.crashes > 0 then
          crashed[#crashed + 1] = id
          crashed[#crashed + 1] = request.crashes
        end
        if request.dueAtMs > 0 then
          queue.delay(crawl, request.domain, request.priority, id, request.dueAtMs)
        else
          latest = math.max(latest, request.arrival)
          local sortKey = queue.order(crawl, request.priority, request.arrival) .. id
          queue.makePending(crawl, request.domain, sortKey, request.crashes)
        end
      end
    end
    lists.send('HSET', crawl.keys.requests, records)
    lists.send('HSET', crawl.keys.crashes, crashed)
    meta.add(crawl, 'accepted', #records / 2)
    -- Later arrivals sort after the restored ones, even if the backup's clock was ahead.
    meta.set(crawl, 'arrival', math.max(latest, meta.number(crawl, 'arrival')))
  end)
end)
