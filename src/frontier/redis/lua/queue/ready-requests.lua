-- Which pending requests are leased next: the best over all domains that are ready.
-- docs/internals/leasing.md has a picture.
--
-- Invariant: the candidates are sorted, no request that was left is before one that was chosen, and no domain that was not read
-- is before a candidate. So each step chooses the best request of all. room + 1 domains are read, since each gives one at least.
--
-- `choose` takes nothing: it only removes members of the queue that cannot be read. `take` takes what was chosen out of the queue.

-- A domain among which is chosen: head is its next request that is not chosen, room how many it may give, count how many it has given.
local function candidateOf(crawl, d)
  local delay, isReady = delayTimer.delay(crawl, d), domains.computeState(crawl, d) == 'ready'
  local room = delay > 0 and 1 or domains.limit(crawl, d) - d.active
  -- It may have become ready under another limit: then it gives nothing.
  return { domain = d, head = d.head, delay = delay, room = isReady and room or 0, count = 0, last = nil }
end

-- The candidates of entries of `ready`, in order, and the entries that their domains do not know: somebody deleted the record
-- of the domain.
local function candidatesOf(crawl, entries)
  local names, found, unknown = {}, {}, {}
  for i = 1, #entries do names[i] = queue.domainOf(entries[i]) end
  domains.load(crawl, names)
  for i = 1, #entries do
    local d = domains.of(crawl, names[i])
    if d.readyHead == queue.sortKeyOf(entries[i]) then
      found[#found + 1] = candidateOf(crawl, d)
    else
      unknown[#unknown + 1] = entries[i]
    end
  end
  return found, unknown
end

-- Chooses up to `most` requests of a domain, within its limits.
local function chooseFrom(crawl, candidate, most, chosen)
  local name = candidate.domain.name
  most = math.min(most, candidate.room)
  local sortKeys = queue.sortKeys(crawl, name, most + 1, candidate.last)
  local count = math.min(most, #sortKeys)
  for i = 1, count do chosen[#chosen + 1] = queue.requestOf(name, sortKeys[i], candidate.delay) end
  candidate.room, candidate.count = candidate.room - count, candidate.count + count
  candidate.head, candidate.last = sortKeys[count + 1] or '', sortKeys[count]
end

-- Inserts a domain in the order of its head after index `from`. If it would sort last and `ready` holds more than was read
-- (hasReadAll is false), discards it: a domain that was not read may sort before it.
local function insert(candidates, from, candidate, hasReadAll)
  local at = #candidates + 1
  while at > from + 1 and queue.isBefore(candidate.head, candidates[at - 1].head) do at = at - 1 end
  if hasReadAll or at <= #candidates then table.insert(candidates, at, candidate) end
end

-- Chooses up to `room` requests, in order: one of the best domain, which is then sorted in again by its next request. Where only
-- one domain is left, as many as its limits allow. Call it after domains.saveStates.
-- Returns requests: { { id, order, domain, delay, record: read later }, … } · domains: those that were looked at · unknown: entries
-- of `ready` to remove · hasMore: others may be leased now · hasReadAll: all ready domains were read.
function readyRequests.choose(crawl, room)
  -- If each of room + 1 entries yields a request, nothing behind the last one can be reached.
  local entries = redis.call('ZRANGE', crawl.keys.ready, '0', lists.digits(room))
  local candidates, unknown = candidatesOf(crawl, entries)
  local hasReadAll, at, chosen, looked = #entries <= room, 0, {}, {}
  while at < #candidates and #chosen < room do
    at = at + 1
    local candidate = candidates[at]
    if candidate.count == 0 then looked[#looked + 1] = candidate end
    if candidate.room > 0 then
      chooseFrom(crawl, candidate, hasReadAll and at == #candidates and room - #chosen or 1, chosen)
      if candidate.head ~= '' and candidate.room > 0 then insert(candidates, at, candidate, hasReadAll) end
    end
  end
  return { requests = chosen, domains = looked, unknown = unknown, hasReadAll = hasReadAll,
    hasMore = at < #candidates or not hasReadAll }
end

-- Takes what was chosen out of the queue, and starts the delay timers. Returns the requests without those whose record vanished.
function readyRequests.take(crawl, choice)
  local members = {}
  for i, request in ipairs(choice.requests) do members[i] = queue.memberOf(request.domain, request.order .. request.id) end
  lists.send('ZREM', crawl.keys.queue, members)
  lists.send('ZREM', crawl.keys.ready, choice.unknown)
  local taken, counts = losses.withRecords(crawl, choice.requests), {}
  for _, request in ipairs(taken) do counts[request.domain] = (counts[request.domain] or 0) + 1 end
  for n, candidate in ipairs(choice.domains) do
    local d, count = candidate.domain, counts[candidate.domain.name]
    d.head = candidate.head
    if count then
      d.active = d.active + count
      delayTimer.start(crawl, d, (crawl.args.lease.random + n * 0.618) % 1, crawl.nowMs)
    end
    domains.markChanged(crawl, d)
  end
  return taken
end
