-- Read what decisions about a crawl need, at one instant: CrawlFacts of types/telemetry.ts.
-- Once for each point of the history, not for each who looks at it.
--
-- Returns JSON; nothing without a crawl. O(leases + domains read): some ms.

-- Domains that are not ready and have pending requests, or have leases.
local function busyNames(crawl, isTaken)
  local names, most = {}, limits.READY_DOMAINS_READ
  for _, found in ipairs({ leaseRecords.domains(crawl), redis.call('ZRANGE', crawl.keys.waiting, '0', lists.digits(most - 1)) }) do
    local count = 0
    for _, name in ipairs(found) do
      if not isTaken[name] and count < most then
        isTaken[name], count = true, count + 1
        names[#names + 1] = name
      end
    end
  end
  return names
end

local function readyNames(crawl, isTaken)
  local names = redis.call('ZRANGE', crawl.keys.ready, '0', lists.digits(limits.READY_DOMAINS_READ - 1))
  for i, entry in ipairs(names) do
    names[i] = queue.domainOf(entry)
    isTaken[names[i]] = true
  end
  return names
end

-- What the live nodes have reported last.
local function reports(crawl)
  local fields, found, incarnations = {}, {}, redis.call('ZRANGE', crawl.keys.nodes, 0, -1)
  for i, incarnation in ipairs(incarnations) do fields[i] = 'node:' .. incarnation end
  for i, text in ipairs(lists.read('HMGET', crawl.keys.telemetry, fields)) do
    local facts = text and reader.json(string.match(text, ' (.*)') or '')
    if facts and incarnations[i] == meta.get(crawl, 'volunteer') then facts.obstacle = 'suspect' end
    if facts then found[#found + 1] = facts end
  end
  return found
end

-- Whether a suspect may be leased now, as a number. A volunteer has one, or is about to.
local function leasableSuspects(crawl)
  local volunteer, names = meta.get(crawl, 'volunteer'), {}
  if volunteer and nodes.isLive(crawl, volunteer) then return 0 end
  for i, entry in ipairs(redis.call('ZRANGE', crawl.keys.suspects, 0, limits.SUSPECTS_READ - 1)) do names[i] = queue.domainOf(entry) end
  for _, state in ipairs(domainStates.of(crawl, names)) do
    if state.dueInMs == 0 and state.leased < state.limit then return 1 end
  end
  return 0
end

-- INFO of CPU, of the whole server; null where the user may not ask.
local function cpuSeconds()
  local info = redis.pcall('INFO', 'cpu')
  if type(info) ~= 'string' then return cjson.null end
  local function used(name) return tonumber(info:match('\n' .. name .. ':([%d.]+)')) or 0 end
  return used('used_cpu_user') + used('used_cpu_sys')
end

local function counter(crawl, name) return reader.number(redis.call('HGET', crawl.keys.stats, name)) or 0 end

verbs.register('facts', { 'no-writes', 'crawl-if-any' }, function(crawl)
  local at, isTaken = crawl.keys, {}
  local firstDelayed = redis.call('ZRANGE', at.delayed, 0, 0, 'WITHSCORES')[2]
  local ready = domainStates.of(crawl, readyNames(crawl, isTaken))
  return cjson.encode({
    atMs = crawl.wallMs, control = meta.get(crawl, 'control'), closing = meta.get(crawl, 'closing') or cjson.null,
    pagesLeft = budgets.pagesLeft(crawl) or cjson.null, startUrls = completion.seedsWaiting(crawl),
    pending = queue.pending(crawl), suspects = redis.call('ZCARD', at.suspects), leasableSuspects = leasableSuspects(crawl), delayed = redis.call('ZCARD', at.delayed),
    delayedDueInMs = firstDelayed and math.max(0, tonumber(firstDelayed) - crawl.nowMs) or cjson.null,
    leased = redis.call('HLEN', at.leases), accepted = meta.number(crawl, 'accepted'), done = meta.number(crawl, 'done'),
    failures = meta.number(crawl, 'run_failed'), items = counter(crawl, 'item_scraped_count'), retries = counter(crawl, 'retry/count'),
    queueLimit = meta.number(crawl, 'queue_limit'), memoryLimit = meta.number(crawl, 'memory_limit'), outbox = redis.call('HLEN', at.outbox),
    queuedDomains = meta.number(crawl, 'queued_domains'), readyDomains = redis.call('ZCARD', at.ready),
    ready = ready, busy = domainStates.of(crawl, busyNames(crawl, isTaken)),
    nodes = reports(crawl), liveNodes = nodes.heardWithin(crawl, nodes.timeoutMs(crawl)),
    storeCpuSeconds = cpuSeconds(),
  })
end)
