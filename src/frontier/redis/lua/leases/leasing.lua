-- Leases requests and reports the state of the crawl: what lease.lua and settle-and-lease.lua have in common. Which requests are
-- taken, and the delays of their domains: queue/ready-requests.lua.
-- args.lease: { max, holding, random, pipelines, cookies }, see lease.lua.
local MAX_LEASES, MAX_SKIPPED = 1000, 1000

-- A hungry node polls every 25 ms × number of nodes, so the total rate stays constant. It counts as hungry for two polls, and
-- for 300 ms at least.
local function hungryWaitMs(crawl) return 25 * redis.call('ZCARD', crawl.keys.nodes) end
local function isHungryNow(crawl)
  return crawl.nowMs - meta.number(crawl, 'hungry_at') <= math.max(300, 2 * hungryWaitMs(crawl))
end

-- A site whose concurrency is smaller than one node's would stay with the first node, which leases again right after each
-- settle. So a node that gets nothing while a domain may be full is recorded as hungry (meta.hungry). Another node that
-- holds more than its share of the leases then gets nothing for a moment. A crawl with DOWNLOAD_DELAY does without: there
-- requests wait for the delay, and any node may be the first to ask when it has passed. So does a concurrency of 1: its node
-- holds nothing when it leases again.
local function standsBack(crawl)
  local hungry = meta.get(crawl, 'hungry')
  if not hungry or hungry == crawl.caller or not isHungryNow(crawl) then return false end
  return nodes.held(crawl, crawl.caller) * redis.call('ZCARD', crawl.keys.nodes) > redis.call('HLEN', crawl.keys.leases)
end

-- Whether pending requests may be kept back by the concurrency of their domain. An estimate in O(1), as idle nodes ask it all
-- the time: no domain is full while there are fewer leases than its concurrency allows.
local function mayBeFull(crawl)
  return meta.number(crawl, 'delay') == 0 and redis.call('ZCARD', crawl.keys.queue) > 0
    and redis.call('HLEN', crawl.keys.leases) >= domainLimits.leastLimit(crawl)
end

local function noteHunger(crawl, isSatisfied)
  if not isSatisfied then
    meta.set(crawl, 'hungry', crawl.caller)
    meta.set(crawl, 'hungry_at', crawl.nowMs)
  elseif meta.get(crawl, 'hungry') == crawl.caller then
    meta.set(crawl, 'hungry', '')
  end
end

-- Drops requests whose record vanished, and counts them as lost. Returns the others.
local function withRecords(crawl, taken)
  local ids, found, dropped = {}, {}, {}
  for i, request in ipairs(taken) do ids[i] = request.id end
  for i, record in ipairs(lists.read('HMGET', crawl.keys.requests, ids)) do
    if record then
      taken[i].record = record
      found[#found + 1] = taken[i]
    else
      domains.cancel(crawl, taken[i].domain)
      dropped[#dropped + 1] = ids[i]
    end
  end
  lists.send('HDEL', crawl.keys.crashes, dropped)
  losses.note(crawl, dropped)
  return found
end

-- Takes up to `room` requests for this node. Returns them, the crashes of a suspect, and waitReason, which may come
-- with requests: 'stoodBack' where it left them to a hungry node, 'skipped' where too many had no record, else nil.
local function takeAvailable(crawl, room)
  local isVolunteer, suspect, crashes = suspects.takeAsVolunteer(crawl)
  if isVolunteer then
    local found = withRecords(crawl, { suspect })
    return found, crashes or 0, suspect and #found == 0 and 'skipped' or nil
  end
  if standsBack(crawl) then return {}, 0, 'stoodBack' end
  local found, skipped = {}, 0
  while #found < room and skipped < MAX_SKIPPED do
    local taken, hasReadAll = readyRequests.take(crawl, room - #found)
    if #taken == 0 and hasReadAll then break end
    local withRecord = withRecords(crawl, taken)
    skipped = skipped + #taken - #withRecord
    lists.append(found, withRecord)
  end
  noteHunger(crawl, #found > 0 or not mayBeFull(crawl))
  return found, 0, skipped >= MAX_SKIPPED and 'skipped' or nil
end

-- The leases that this call created when it came first, if the node still holds them.
local function givenBefore(crawl, ids)
  local found, crashes, records = {}, 0, lists.read('HMGET', crawl.keys.requests, ids)
  for i, lease in ipairs(leases.read(crawl, ids)) do
    if records[i] and lease and lease.node == crawl.caller and lease.call == crawl.args.call then
      local delay = delayTimer.delay(crawl, domains.of(crawl, lease.domain))
      found[#found + 1] = { id = ids[i], domain = lease.domain, delay = delay, record = records[i] }
      crashes = lease.crashes
    end
  end
  return found, crashes
end

-- In how many ms to ask again.
local function waitMs(crawl, waitReason)
  if waitReason == 'stoodBack' then return 30 end
  if waitReason == 'skipped' then return 1 end
  local least = 1000
  if meta.get(crawl, 'hungry') == crawl.caller then least = math.min(least, hungryWaitMs(crawl)) end
  for _, key in ipairs({ crawl.keys.waiting, crawl.keys.delayed }) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[2] then least = math.min(least, math.max(1, tonumber(first[2]) - crawl.nowMs)) end
  end
  return least
end

-- The state of the crawl: CrawlState of frontier.ts.
local function describe(crawl, hasLeased)
  local seeds, isBusy = completion.seedsWaiting(crawl), hasLeased or completion.isBusy(crawl)
  local idleSince = meta.get(crawl, 'idle_since')
  if isBusy and idleSince then meta.set(crawl, 'idle_since', '') end
  if not isBusy and not idleSince then meta.set(crawl, 'idle_since', crawl.nowMs) end
  local isIdle = not isBusy and completion.isIdle(crawl, seeds, crawl.args.lease.pipelines)
  local isFinished = isIdle and completion.wasAsked(crawl)
  -- Idle nodes ask once a second, and a node that leaves a finished crawl checks when the others were heard from (leave.lua).
  if isFinished then redis.call('ZADD', crawl.keys.nodes, 'XX', crawl.nowMs, crawl.caller) end
  return {
    control = meta.get(crawl, 'control'), closing = meta.get(crawl, 'closing') or cjson.null,
    finished = isFinished, idleDue = isIdle and not isFinished and not completion.asker(crawl),
    acceptedInRun = meta.number(crawl, 'run_accepted'), seedsWaiting = seeds,
    idleMs = isBusy and 0 or math.max(0, crawl.nowMs - meta.number(crawl, 'idle_since')),
    full = queueLimit.isReached(crawl), lost = meta.number(crawl, 'lost'),
    seenGone = meta.number(crawl, 'marks_gone'), seenExpires = meta.get(crawl, 'marks_expire') == '1',
  }
end

-- Leases up to args.lease.max requests, or gives this call's first answer again. Returns what lease.lua documents.
function leasing.run(crawl)
  local wanted, given, crashes, waitReason = math.min(crawl.args.lease.max, MAX_LEASES), {}, 0, nil
  budgets.closeWhenSpent(crawl)
  local isOpen = meta.get(crawl, 'control') == 'running' and not meta.get(crawl, 'closing')
  local room, firstAnswer = math.min(wanted, budgets.pagesLeft(crawl) or wanted), answers.first(crawl)
  if firstAnswer then
    given, crashes = givenBefore(crawl, firstAnswer)
  elseif isOpen and wanted > 0 then
    queue.promoteDelayed(crawl)
    domains.promoteWaiting(crawl)
    if room > 0 then given, crashes, waitReason = takeAvailable(crawl, room) end
  end
  local ids, records, leased = {}, {}, {}
  for i, request in ipairs(given) do
    ids[i], records[i] = request.id, request.record
    leased[i] = { domain = request.domain, delayMs = math.ceil(request.delay), crashes = crashes }
  end
  if #given > 0 and not firstAnswer then
    leases.grant(crawl, given, crashes)
    state.note(crawl, ids, 'leased')
    meta.add(crawl, 'run_pages', #given)
    answers.keep(crawl, ids)
  end
  domains.saveStates(crawl)
  if #given == 0 and isOpen then
    losses.noteMissing(crawl)
    marks.look(crawl)
  end
  local nextMs = 1000
  if isOpen then
    local isMore = wanted > 0 and #given == wanted and redis.call('ZCARD', crawl.keys.ready) > 0
    nextMs = isMore and 0 or waitMs(crawl, waitReason)
  end
  local answer = { call = crawl.args.call, leases = leased, waitMs = nextMs, crawl = describe(crawl, #given > 0) }
  local known = crawl.args.lease.cookies
  return { cjson.encode(answer), ids, records, known and cookies.since(crawl, known) }
end
