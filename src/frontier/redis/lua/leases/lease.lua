-- Take up to max due and polite requests, best first over all domains, and report the state of the crawl.
-- Atomic: order, delays and concurrency hold for all nodes together because they are decided here, on the server's clock.
-- The steps, in order, have a picture in docs/internals/leasing.md; embedded/leases/lease.ts has the same.
--
-- args.lease: max · holding: how many requests the node processes now · random in [0, 1) · pipelines: outboxes
--   that must be empty in a finished crawl; absent for none · cookies: the version of the cookies that the node knows;
--   absent: it wants none · server: see serverData.refuseOther; absent but in a
--   Cluster
-- Returns { JSON, ids, records, what has changed of the cookies, as cookies.since returns it; absent where nothing has }. The
--   JSON has call: number of the call that created the leases; call number and request id form the token · leases: domain,
--   delayMs, crashes of each, in the order of the ids · waitMs: when to ask again · crawl: its state. O(k log n) for k leases.

-- Takes the best ready requests, up to `room`. Returns them, and whether more may be leased now.
local function takeBest(crawl, room)
  local found, lost = {}, 0
  repeat
    domains.saveStates(crawl)
    local choice = readyRequests.choose(crawl, room - #found)
    local taken = readyRequests.take(crawl, choice)
    local lostNow = #choice.requests - #taken
    lost = lost + lostNow
    lists.append(found, taken)
    if choice.hasReadAll and lostNow == 0 or #found == room then return found, choice.hasMore end
  until lost >= limits.MAX_LOST_AT_ONCE
  return found, true
end

-- Takes up to `room` requests for this node. Returns them, whether more may be leased now, and whether the node stood back.
local function takeAvailable(crawl, room)
  local isVolunteer, suspect = suspects.volunteer(crawl)
  if isVolunteer then
    local found = { suspect and suspects.take(crawl, suspect) }
    return found, suspect and #found == 0, false
  end
  if fairShare.standsBack(crawl) then return {}, false, true end
  local found, hasMore = takeBest(crawl, room)
  fairShare.noteHunger(crawl, #found > 0)
  return found, hasMore, false
end

-- The leases that this call created when it came first, if the node still holds them.
local function givenBefore(crawl, ids)
  local found, records = {}, lists.read('HMGET', crawl.keys.requests, ids)
  for i, held in ipairs(leaseRecords.read(crawl, ids)) do
    if records[i] and held and held.node == crawl.caller and held.call == crawl.args.call then
      local delay = delayTimer.delay(crawl, domains.of(crawl, held.domain))
      found[#found + 1] = { id = ids[i], domain = held.domain, delay = delay, crashes = held.crashes,
        record = storedRecord.json(records[i]) }
    end
  end
  return found
end

-- Time until something may be due, in ms.
local function waitMs(crawl)
  local least = math.min(limits.MAX_WAIT_MS, fairShare.hungryWaitMs(crawl) or limits.MAX_WAIT_MS)
  for _, key in ipairs({ crawl.keys.waiting, crawl.keys.delayed }) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[2] then least = math.min(least, math.max(1, tonumber(first[2]) - crawl.nowMs)) end
  end
  return least
end

-- Leases requests to the caller, or gives this call's first answer again. Returns what the verb returns.
function lease.run(crawl)
  local wanted, given, hasMore, stoodBack = math.min(crawl.args.lease.max, limits.MAX_LEASES), {}, false, false
  budgets.closeWhenSpent(crawl)
  local isOpen = meta.get(crawl, 'control') == 'running' and not meta.get(crawl, 'closing')
  local room, firstAnswer = budgets.roomForPages(crawl, wanted), answers.first(crawl)
  if firstAnswer then
    given, hasMore = givenBefore(crawl, firstAnswer), true
  elseif isOpen and wanted > 0 then
    queue.promoteDelayed(crawl)
    domains.promoteWaiting(crawl)
    if room > 0 and not meta.get(crawl, 'stall_drains') then given, hasMore, stoodBack = takeAvailable(crawl, room) end
  end
  local ids, records, leased = {}, {}, {}
  for i, request in ipairs(given) do
    ids[i], records[i] = request.id, request.record
    leased[i] = { domain = request.domain, delayMs = math.ceil(request.delay), crashes = request.crashes }
  end
  if #given > 0 and not firstAnswer then
    leaseRecords.grant(crawl, given)
    state.note(crawl, ids, 'leased')
    budgets.reservePages(crawl, #given)
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
  if isOpen and stoodBack then
    nextMs = limits.STAND_BACK_MS
  elseif isOpen then
    -- Where the page budget made the room smaller, asking again at once gives nothing.
    nextMs = hasMore and room == wanted and 0 or waitMs(crawl)
  end
  local answer = { call = crawl.args.call, leases = leased, waitMs = nextMs, crawl = completion.describe(crawl, #given > 0) }
  local known = crawl.args.lease.cookies
  return { cjson.encode(answer), ids, records, known and cookies.since(crawl, known) }
end

verbs.register('lease', { 'crawl', 'live-node' }, function(crawl, args)
  serverData.refuseOther(args.lease.server)
  return lease.run(crawl)
end)
