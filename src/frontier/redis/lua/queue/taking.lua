-- Which pending requests are leased next: the best over all domains that are ready.

-- Takes up to `most` requests out of a domain's queue, within its limits; only one where it has a delay. The domain may
-- have become ready under another limit. Then nothing is taken, and computing its state again removes it from `ready`.
local function takeFrom(crawl, d, most, taken, members)
  local r, delay = d.record, domains.delay(crawl, d)
  most = math.min(delay > 0 and 1 or most, domains.limit(crawl) - r.active)
  domains.markChanged(crawl, d)
  if most < 1 or domains.dueAt(d) > crawl.nowMs then return end
  local sortKeys = queue.sortKeys(crawl, d.name, most + 1, d.lastTaken)
  local count = math.min(most, #sortKeys)
  for i = 1, count do
    members[#members + 1] = queue.memberOf(d.name, sortKeys[i])
    taken[#taken + 1] = { id = queue.idOf(sortKeys[i]), order = queue.orderOf(sortKeys[i]), domain = d.name, delay = delay }
  end
  r.active, r.head, d.lastTaken = r.active + count, sortKeys[count + 1] or '', sortKeys[count]
  if count > 0 then domains.startDelayTimer(crawl, d, (crawl.args.lease.random + #taken * 0.618) % 1) end
end

-- Inserts `entry` in sort order after index `from`. If it would sort last and `ready` holds more than was read
-- (isComplete is false), discards it: an entry that was not read may sort before it.
local function insert(entries, from, entry, isComplete)
  local at = #entries + 1
  while at > from + 1 and queue.isBefore(entry, entries[at - 1]) do at = at - 1 end
  if isComplete or at <= #entries then table.insert(entries, at, entry) end
end

-- Takes up to `room` requests out of the queue, in order: { { id, order, domain, delay }, … }.
-- Takes one request of the best domain, then sorts the domain in again by its next request. Where only one domain is left,
-- takes as many as its limits allow.
function taking.take(crawl, room)
  domains.saveStates(crawl)
  -- Read room + 1 entries. If each entry yields a request, nothing behind the last one can be reached.
  local entries, names, taken, members = redis.call('ZRANGE', crawl.keys.ready, '0', lists.digits(room)), {}, {}, {}
  local isComplete, at = #entries <= room, 0
  for i = 1, #entries do names[i] = queue.domainOf(entries[i]) end
  domains.load(crawl, names)
  while at < #entries and #taken < room do
    at = at + 1
    local entry = entries[at]
    local d = domains.of(crawl, queue.domainOf(entry))
    if entry == (d.again or d.readyEntry) then
      takeFrom(crawl, d, isComplete and at == #entries and room - #taken or 1, taken, members)
      if domains.computeState(crawl, d) == 'ready' then
        d.again = d.record.head .. d.name
        insert(entries, at, d.again, isComplete)
      end
    else
      -- Somebody deleted the record of this domain.
      redis.call('ZREM', crawl.keys.ready, entry)
    end
  end
  lists.send('ZREM', crawl.keys.queue, members)
  for _, d in ipairs(crawl.reclassifyDomains) do d.again, d.lastTaken = nil, nil end
  return taken
end
