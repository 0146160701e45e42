-- Which pending requests are leased next: the best over all domains that are ready.
--
--   ready, by the best request (head) of each domain     behind what was read
--     a:1   b:4   c:6                                  |   d:7   e:9 …
--     ▲ take a:1. The next of a is 5:
--     b:4   a:5   c:6                                  |   d:7   e:9 …
--     ▲ take b:4. The next of b is 8, which would sort last, so b is left out: d may be before it.
--     a:5   c:6                                        |   d:7   e:9 …
--
-- Invariant: the candidates are sorted, no request that was left is before one that was taken, and no domain that was not read
-- is before a candidate. So each step takes the best request of all. room + 1 domains are read, since each gives one at least.

-- Takes up to `most` requests out of a domain's queue, within its limits; only one where it has a delay.
local function takeFrom(crawl, d, most, taken, members)
  local delay = delayTimer.delay(crawl, d)
  most = math.min(delay > 0 and 1 or most, domains.limit(crawl, d) - d.active)
  local sortKeys = queue.sortKeys(crawl, d.name, most + 1, d.lastTaken)
  local count = math.min(most, #sortKeys)
  for i = 1, count do
    members[#members + 1] = queue.memberOf(d.name, sortKeys[i])
    taken[#taken + 1] = queue.requestOf(d.name, sortKeys[i], delay)
  end
  d.active, d.head, d.lastTaken = d.active + count, sortKeys[count + 1] or '', sortKeys[count]
  if count > 0 then delayTimer.start(crawl, d, (crawl.args.lease.random + #taken * 0.618) % 1, crawl.nowMs) end
end

-- Inserts a domain in the order of its head after index `from`. If it would sort last and `ready` holds more than was read
-- (hasReadAll is false), discards it: a domain that was not read may sort before it.
local function insert(candidates, from, d, hasReadAll)
  local at = #candidates + 1
  while at > from + 1 and queue.isBefore(d.head, candidates[at - 1].head) do at = at - 1 end
  if hasReadAll or at <= #candidates then table.insert(candidates, at, d) end
end

-- The domains of entries of `ready`, in order. An entry that its domain does not know is removed: somebody deleted the
-- record of the domain.
local function domainsOf(crawl, entries)
  local names, found, unknown = {}, {}, {}
  for i = 1, #entries do names[i] = queue.domainOf(entries[i]) end
  domains.load(crawl, names)
  for i = 1, #entries do
    local d = domains.of(crawl, names[i])
    local list = d.readyHead == queue.sortKeyOf(entries[i]) and found or unknown
    list[#list + 1] = list == found and d or entries[i]
  end
  lists.send('ZREM', crawl.keys.ready, unknown)
  return found
end

-- Takes up to `room` requests out of the queue, in order: { { id, order, domain, delay, record: read later }, … }.
-- Takes one request of the best domain, then sorts the domain in again by its next request. Where only one domain is left,
-- takes as many as its limits allow.
-- Returns also whether all ready domains were considered.
function readyRequests.take(crawl, room)
  domains.saveStates(crawl)
  -- Read room + 1 entries. If each entry yields a request, nothing behind the last one can be reached.
  local entries = redis.call('ZRANGE', crawl.keys.ready, '0', lists.digits(room))
  local candidates, hasReadAll, at, taken, members = domainsOf(crawl, entries), #entries <= room, 0, {}, {}
  while at < #candidates and #taken < room do
    at = at + 1
    local d = candidates[at]
    domains.markChanged(crawl, d)
    -- It may have become ready under another limit. Then computing its state again removes it from `ready`.
    if domains.computeState(crawl, d) == 'ready' then
      takeFrom(crawl, d, hasReadAll and at == #candidates and room - #taken or 1, taken, members)
      if domains.computeState(crawl, d) == 'ready' then insert(candidates, at, d, hasReadAll) end
    end
  end
  lists.send('ZREM', crawl.keys.queue, members)
  for i = 1, #candidates do candidates[i].lastTaken = nil end
  return taken, hasReadAll
end
