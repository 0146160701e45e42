-- Which pending requests are leased next: the best over all domains that may be asked now.

-- Takes out of a domain's queue up to `most` requests, as its limits allow. With a delay it gives one at a time.
local function takeFrom(crawl, d, most, taken)
  local delay = domains.delay(crawl, d)
  most = math.min(delay > 0 and 1 or most, domains.limit(crawl) - d.active)
  if most < 1 or domains.dueAt(d) > crawl.nowMs then return end
  local places = queue.places(crawl, d.name, most + 1)
  local count, members = math.min(most, #places), {}
  for i = 1, count do
    members[i] = queue.memberOf(d.name, places[i])
    taken[#taken + 1] = { id = queue.idOf(places[i]), order = queue.orderOf(places[i]), domain = d.name, delay = delay }
  end
  lists.send('ZREM', crawl.keys.queue, members)
  d.active, d.head = d.active + count, places[count + 1] or ''
  if count > 0 then domains.startClock(crawl, d, (crawl.args.lease.random + #taken * 0.618) % 1) end
end

-- Takes up to `room` requests out of the queue, in order: { { id, order, domain, delay }, … }.
-- The best domain gives one request, and competes again with its next; alone it gives as many as it may. A domain may
-- have come among the ready under another limit: then it gives nothing, and leaves them.
function taking.take(crawl, room)
  local ready, taken, passed = crawl.keys.ready, {}, 0
  domains.savePlaces(crawl)
  local entries = redis.call('ZRANGE', ready, 0, room)
  local names = {}
  for i = 1, #entries do names[i] = queue.domainOf(entries[i]) end
  domains.load(crawl, names)
  while entries[1] and #taken < room and passed < 1000 do
    local d = domains.of(crawl, queue.domainOf(entries[1]))
    if d.readyAs == entries[1] then
      takeFrom(crawl, d, entries[2] and 1 or room - #taken, taken)
      domains.move(crawl, d)
      domains.savePlaces(crawl)
    else
      -- Somebody deleted the record of this domain.
      redis.call('ZREM', ready, entries[1])
    end
    passed = passed + 1
    entries = redis.call('ZRANGE', ready, 0, 1)
  end
  return taken
end
