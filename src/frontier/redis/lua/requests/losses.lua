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

-- Requests that were accepted and are nowhere. Every change must have been written.
function losses.missing(crawl)
  local counted = meta.number(crawl, 'done') + meta.number(crawl, 'removed') + meta.number(crawl, 'lost')
  return meta.number(crawl, 'accepted') - counted - losses.found(crawl)
end

-- CrawlState.cameBack.
function losses.cameBack(crawl) return meta.get(crawl, 'came_back') and meta.number(crawl, 'came_back') or nil end

-- Deletes the records of requests that neither wait nor are leased nor have failed. O(records), which happens once after a hand has
-- put the key back as it was earlier.
function losses.dropUnqueued(crawl)
  local at, isKnown, dropped = crawl.keys, {}, {}
  for _, member in ipairs(redis.call('ZRANGE', at.queue, 0, -1)) do isKnown[string.sub(member, -20)] = true end
  for _, key in ipairs({ at.suspects, at.delayed }) do
    for _, entry in ipairs(redis.call('ZRANGE', key, 0, -1)) do isKnown[queue.idOf(entry)] = true end
  end
  for _, id in ipairs(redis.call('HKEYS', at.leases)) do isKnown[id] = true end
  for _, id in ipairs(redis.call('ZRANGE', at.failed, 0, -1)) do isKnown[id] = true end
  for _, id in ipairs(redis.call('HKEYS', at.requests)) do
    if not isKnown[id] then dropped[#dropped + 1] = id end
  end
  lists.send('HDEL', at.requests, dropped)
end

-- Counts requests that are nowhere any more, because a whole queue was deleted or evicted. Otherwise the crawl would never be
-- complete. Every change must have been written.
function losses.noteMissing(crawl)
  if meta.get(crawl, 'repairing') or meta.get(crawl, 'restoring') then return end
  local missing = losses.missing(crawl)
  if missing > 0 then meta.add(crawl, 'lost', missing) end
end
