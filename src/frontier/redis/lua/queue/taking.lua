-- Which pending requests are leased next: the best over all domains that may be asked now.

-- Takes out of a domain's queue up to `most` requests, as its limits allow. With a delay it gives one at a time. It may
-- have come among the ready under another limit: then it gives nothing, and leaves them.
local function takeFrom(crawl, d, most, taken, members)
  local r, delay = d.record, domains.delay(crawl, d)
  most = math.min(delay > 0 and 1 or most, domains.limit(crawl) - r.active)
  domains.move(crawl, d)
  if most < 1 or domains.dueAt(d) > crawl.nowMs then return end
  local places = queue.places(crawl, d.name, most + 1, d.lastTaken)
  local count = math.min(most, #places)
  for i = 1, count do
    members[#members + 1] = queue.memberOf(d.name, places[i])
    taken[#taken + 1] = { id = queue.idOf(places[i]), order = queue.orderOf(places[i]), domain = d.name, delay = delay }
  end
  r.active, r.head, d.lastTaken = r.active + count, places[count + 1] or '', places[count]
  if count > 0 then domains.startClock(crawl, d, (crawl.args.lease.random + #taken * 0.618) % 1) end
end

-- Puts an entry where it belongs among the sorted ones behind the first `from`; not behind the last one, unless they are all
-- that there are.
local function insert(entries, from, entry, areAll)
  local at = #entries + 1
  while at > from + 1 and queue.isBefore(entry, entries[at - 1]) do at = at - 1 end
  if areAll or at <= #entries then table.insert(entries, at, entry) end
end

-- Takes up to `room` requests out of the queue, in order: { { id, order, domain, delay }, … }.
-- The best domain gives one request, and competes again with its next; alone it gives as many as it may.
function taking.take(crawl, room)
  domains.savePlaces(crawl)
  -- One more than can be needed, so that what is behind the last one cannot be either.
  local entries, names, taken, members = redis.call('ZRANGE', crawl.keys.ready, '0', lists.digits(room)), {}, {}, {}
  local areAll, at = #entries <= room, 0
  for i = 1, #entries do names[i] = queue.domainOf(entries[i]) end
  domains.load(crawl, names)
  while at < #entries and #taken < room do
    at = at + 1
    local entry = entries[at]
    local d = domains.of(crawl, queue.domainOf(entry))
    if entry == (d.again or d.readyAs) then
      takeFrom(crawl, d, areAll and at == #entries and room - #taken or 1, taken, members)
      if domains.standing(crawl, d) == 'ready' then
        d.again = d.record.head .. d.name
        insert(entries, at, d.again, areAll)
      end
    else
      -- Somebody deleted the record of this domain.
      redis.call('ZREM', crawl.keys.ready, entry)
    end
  end
  lists.send('ZREM', crawl.keys.queue, members)
  for _, d in ipairs(crawl.unplacedDomains) do d.again, d.lastTaken = nil, nil end
  return taken
end
