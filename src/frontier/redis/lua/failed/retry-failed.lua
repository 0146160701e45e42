-- Move failed requests back to pending, with a new arrival and no crashes.
-- Atomic: a request is in one state at any instant.
--
-- args: requests (requests/acceptance.lua)
-- Returns how many were failed and are pending now; nothing without a crawl. O(n log m).
verbs.register('retry_failed', { 'crawl-if-any', 'accepts' }, function(crawl, args)
  local requests, ids, untried, records = args.requests, {}, {}, {}
  for i, id in ipairs(requests.ids) do
    if acceptance.revive(crawl, id) then
      ids[#ids + 1], untried[#untried + 1] = id, 0
      local arrival = queue.nextArrival(crawl)
      lists.pair(records, id, storedRecord.pack(requests.records[i], arrival))
      queue.add(crawl, requests.domains[i], queue.order(crawl, requests.priorities[i], arrival) .. id)
    end
  end
  lists.send('HSET', crawl.keys.requests, records)
  state.note(crawl, ids, 'pending', untried, untried)
  meta.add(crawl, 'run_accepted', #ids)
  return #ids
end)
