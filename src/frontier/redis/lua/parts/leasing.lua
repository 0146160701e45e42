-- What a lease brings, and how the crawl is said to stand: what lease.lua and turn.lua have in common, ARGV 4–7
-- included.
-- Order, delays and concurrency hold for all nodes together because they are decided here, on one clock.
-- uses: answers suspects completion limits

local MAX_LEASES = 1000
local MAX_SKIPPED = 1000

-- Somebody typed DEL: what the queue held is counted as removed, or the crawl would wait for it for ever.
local function forgetLostQueue() -- rarely: seldom
  if number('pending') == 0 or pendingChange ~= 0 or call('EXISTS', queueKey) == 1 then return end
  setMeta('removed', number('removed') + number('pending'))
  setMeta('pending', 0)
end

-- Whether anything stands apart from the ready domains: delayed requests, domains that wait, suspects, seeds. One
-- question, as most often there is nothing.
local hasAside

-- As the header of lease.lua has it.
local function stateOfCrawl(waitMs)
  if #ids == 0 then forgetLostQueue() end
  local seeds = hasAside and seedsWaiting() or 0
  local busy = #ids > 0 or pendingCount() > 0 or call('HLEN', leasesKey) > 0 or call('ZCARD', delayedKey) > 0 or call('ZCARD', suspectsKey) > 0
  if busy and meta.idle_since and meta.idle_since ~= '' then setMeta('idle_since', '') end
  if not busy and (not meta.idle_since or meta.idle_since == '') then setMeta('idle_since', nowMs) end
  local idleMs = busy and 0 or nowMs - number('idle_since')
  local finished = not busy and isFinished(seeds)
  -- A sign of life now and then (idle nodes ask once a second): whoever leaves a finished crawl looks for one
  -- (leave.lua).
  if finished then call('ZADD', nodesKey, 'XX', nowMs, incarnation) end
  return waitMs, meta.control, finished and 1 or 0, number('run_accepted'), meta.closing or '', seeds, idleMs, number('queue_limit') > 0 and isQueueFull() and 1 or 0
end

-- With work behind a full domain: soon, but the more nodes there are the less often each.
local function nextInstant() -- rarely: aside
  local waitMs = 1000
  if stoodBack then return 30 end
  if skipped >= MAX_SKIPPED then return 1 end
  if meta.hungry == incarnation then waitMs = min(waitMs, 25 * call('ZCARD', nodesKey)) end
  for _, key in ipairs({ waitingKey, delayedKey }) do
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[2] then waitMs = min(waitMs, max(1, tonumber(first[2]) - nowMs)) end
  end
  return waitMs
end

local function takeWhatIsFree(wanted)
  if hasAside then promoteWhatIsDue() end
  local room, volunteer = hasBudgets() and roomForPages(wanted) or wanted, meta.volunteer
  if room > 0 and not ((hasAside or (volunteer and volunteer ~= '')) and volunteers()) then
    local hungry = meta.hungry
    if hungry and hungry ~= '' and standsBack() then
      stoodBack = true
    else
      while #ids < room and skipped < MAX_SKIPPED and takeBest(room - #ids) do end
      local isSatisfied = #ids > 0 or number('delay') > 0 or pendingCount() == 0
      if not isSatisfied or hungry == incarnation then noteHunger(isSatisfied) end
    end
  end
end

-- The leases of this call's first answer, those that are still its node's, and given by this call.
local function repeatLeases(first) -- rarely: seldom
  local given = {}
  for i = 1, #first / 20 do given[i] = sub(first, i * 20 - 19, i * 20) end
  local found = fetched('HMGET', requests, given)
  for i, packed in ipairs(fetched('HMGET', leasesKey, given)) do
    local lease = packed and unpackLease(packed)
    if lease and lease[OWNER] == incarnation and lease[GIVEN_BY] == tonumber(ARGV[2]) then
      local n, name = #ids + 1, lease[LEASE_DOMAIN]
      ids[n], takenFrom[n], leasedRecords[n], crashesOfLeased = given[i], name, found[i] or '', lease[CRASHES]
      local delay = delayOf(domainOf(name))
      if delay > 0 then delays[name] = delay end
    end
  end
  return table.concat(ids)
end

-- Of each lease the delay of its domain.
local function delaysInOrder() -- rarely: aside
  local list = {}
  for i = 1, #takenFrom do list[i] = delays[takenFrom[i]] or 0 end
  return list
end

-- Leases as many as are asked for, or those of this call's first answer. Returns what the header of lease.lua says.
local function answerLeases()
  local wanted, waitMs = min(tonumber(ARGV[4]), MAX_LEASES), 1000
  if hasBudgets() then closeWhenSpent() end
  hasAside = call('EXISTS', delayedKey, waitingKey, suspectsKey, unpack(KEYS, FIRST_START_URLS)) > 0
  local isOpen = meta.control == 'running' and (not meta.closing or meta.closing == '')
  local first, taken = firstAnswer(), ''
  if first then
    taken = repeatLeases(first)
  elseif isOpen and wanted > 0 then
    takeWhatIsFree(wanted)
    taken = table.concat(ids)
    if taken ~= '' then
      call('HINCRBY', heldKey, incarnation, inDigits(#ids))
      setMeta('run_pages', number('run_pages') + #ids)
      keepAnswer(taken)
    end
  end
  savePlaces()
  if isOpen then waitMs = (wanted > 0 and #ids == wanted and (isMoreReady or call('ZCARD', readyKey) > 0)) and 0 or nextInstant() end
  return { ARGV[2], taken, takenFrom, leasedRecords, next(delays) and delaysInOrder() or NONE, crashesOfLeased, stateOfCrawl(waitMs) }
end
