-- Leases requests and reports the state of the crawl: what lease.lua and settle-and-lease.lua have in common. The steps, in order
-- (docs/internals/leasing.md has the picture): due and waiting requests become ready; a volunteer gets a suspect; a node with
-- more than its share stands back; else the best ready requests are taken (queue/ready-requests.lua).
-- args.lease: { max, holding, random, pipelines, cookies }, see lease.lua.
local MAX_LEASES, MAX_SKIPPED = 1000, 1000

-- Drops requests whose record vanished, and counts them as lost. Returns the others.
local function withRecords(crawl, taken)
  local ids, found, dropped = {}, {}, {}
  for i, request in ipairs(taken) do ids[i] = request.id end
  for i, record in ipairs(lists.read('HMGET', crawl.keys.requests, ids)) do
    if record then
      taken[i].record = storedRecord.json(record)
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
  if fairShare.standsBack(crawl) then return {}, 0, 'stoodBack' end
  local found, skipped = {}, 0
  while #found < room and skipped < MAX_SKIPPED do
    local taken, hasReadAll = readyRequests.take(crawl, room - #found)
    if #taken == 0 and hasReadAll then break end
    local withRecord = withRecords(crawl, taken)
    skipped = skipped + #taken - #withRecord
    lists.append(found, withRecord)
  end
  fairShare.noteHunger(crawl, #found > 0)
  return found, 0, skipped >= MAX_SKIPPED and 'skipped' or nil
end

-- The leases that this call created when it came first, if the node still holds them.
local function givenBefore(crawl, ids)
  local found, crashes, records = {}, 0, lists.read('HMGET', crawl.keys.requests, ids)
  for i, lease in ipairs(leaseRecords.read(crawl, ids)) do
    if records[i] and lease and lease.node == crawl.caller and lease.call == crawl.args.call then
      local delay = delayTimer.delay(crawl, domains.of(crawl, lease.domain))
      found[#found + 1] = { id = ids[i], domain = lease.domain, delay = delay, record = storedRecord.json(records[i]) }
      crashes = lease.crashes
    end
  end
  return found, crashes
end

-- In how many ms to ask again.
local function waitMs(crawl, waitReason)
  if waitReason == 'skipped' then return 1 end
  local least = math.min(limits.MAX_WAIT_MS, fairShare.waitMs(crawl, waitReason == 'stoodBack') or limits.MAX_WAIT_MS)
  if waitReason == 'stoodBack' then return least end
  for _, key in ipairs({ crawl.keys.waiting, crawl.keys.delayed }) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[2] then least = math.min(least, math.max(1, tonumber(first[2]) - crawl.nowMs)) end
  end
  return least
end

-- Leases up to args.lease.max requests, or gives this call's first answer again. Returns what lease.lua documents.
function grantLeases.run(crawl)
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
    leaseRecords.grant(crawl, given, crashes)
    state.note(crawl, ids, 'leased')
    meta.add(crawl, 'run_leased', #given)
    answers.keep(crawl, ids)
  end
  domains.saveStates(crawl)
  if #given == 0 then crawl.stall = stall.look(crawl, isOpen, room > 0) end
  if #given == 0 and isOpen then
    -- Those whose records are there come back with the rebuild.
    if not crawl.stall then losses.noteMissing(crawl) end
    marks.look(crawl)
  end
  local nextMs = limits.MAX_WAIT_MS
  if isOpen then
    local isMore = wanted > 0 and #given == wanted and redis.call('ZCARD', crawl.keys.ready) > 0
    nextMs = isMore and 0 or waitMs(crawl, waitReason)
  end
  local answer = { call = crawl.args.call, leases = leased, waitMs = nextMs, crawl = completion.describe(crawl, #given > 0) }
  local known = crawl.args.lease.cookies
  return { cjson.encode(answer), ids, records, known and cookies.since(crawl, known) }
end
