-- Lost requests: their records vanished from Redis, because somebody deleted keys or Redis evicted them. They are counted
-- (meta.lost), so that no node calls the crawl finished and the last one does not clear it.

-- Counts pending requests that have no record, and forgets their fingerprints where the class can, so that links and seeds
-- bring them back.
function losses.note(crawl, ids)
  if #ids == 0 then return end
  meta.add(crawl, 'lost', #ids)
  earlyLinks.forget(crawl, ids)
  local class, forgotten = dupefilters.of(crawl), 0
  for i = 1, class.forget and #ids or 0 do forgotten = forgotten + dupefilters.forget(crawl, class.markOf(ids[i])) end
  if forgotten > 0 then meta.raiseEpoch(crawl) end
end

-- Of requests that were taken out of the queue those that have a record, with it. The others are counted as lost.
function losses.withRecords(crawl, taken)
  local ids, found, dropped = {}, {}, {}
  for i, request in ipairs(taken) do ids[i] = request.id end
  for i, record in ipairs(lists.read('HMGET', crawl.keys.requests, ids)) do
    taken[i].record = storedRecord.json(record)
    local list = record and found or dropped
    list[#list + 1] = record and taken[i] or ids[i]
  end
  lists.send('HDEL', crawl.keys.crashes, dropped)
  losses.note(crawl, dropped)
  return found
end

-- Requests that wait, are leased or failed.
function losses.found(crawl)
  return queue.pending(crawl) + redis.call('ZCARD', crawl.keys.delayed) + redis.call('HLEN', crawl.keys.leases)
    + redis.call('ZCARD', crawl.keys.failed)
end

-- Counts requests that are nowhere any more, because a whole queue was deleted or evicted. Otherwise the crawl would never be
-- complete. Every change must have been written.
function losses.noteMissing(crawl)
  if meta.get(crawl, 'repairing') or meta.get(crawl, 'restoring') then return end
  local counted = meta.number(crawl, 'done') + meta.number(crawl, 'removed') + meta.number(crawl, 'lost')
  local missing = meta.number(crawl, 'accepted') - counted - losses.found(crawl)
  if missing > 0 then meta.add(crawl, 'lost', missing) end
end
