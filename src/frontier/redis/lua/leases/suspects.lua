-- Suspects: requests whose node died while it held them. docs/internals/leasing.md has the rules.

-- Chooses the first suspect, in order, whose domain may be leased from: its entry (queue.lua), or nil. Drops what cannot be read, and changes nothing else.
function suspects.choose(crawl)
  local first = redis.call('ZRANGE', crawl.keys.suspects, 0, limits.SUSPECTS_READ - 1)
  for _, entry in ipairs(queue.entriesAmong(crawl, crawl.keys.suspects, first)) do
    local d = domains.of(crawl, queue.domainOf(entry))
    if delayTimer.dueAt(d) <= crawl.nowMs and d.active < domains.limit(crawl, d) then return entry end
  end
end

-- What the caller holds: whether it must take nothing now, and whether a suspect is among it.
local function heldByCaller(crawl)
  local _, held = leaseRecords.of(crawl, crawl.caller, math.huge)
  local newest, hasSuspect = leaseRecords.newest(held), false
  for _, lease in ipairs(held) do hasSuspect = hasSuspect or lease.crashes > 0 end
  local isNew = newest and crawl.nowMs - newest.atMs < limits.ALONE_MS
  -- A page whose lease is lost may still run.
  return isNew or crawl.args.lease.holding > #held, hasSuspect
end

-- Makes this node the volunteer where there is none and a suspect may be leased. Returns whether it is the volunteer, and the entry
-- of the suspect that it gets, if it may have it now.
function suspects.volunteer(crawl)
  local volunteer = meta.get(crawl, 'volunteer')
  local isOurs = volunteer == crawl.caller
  if volunteer and not isOurs and nodes.isLive(crawl, volunteer) then return false end
  if not volunteer and redis.call('ZCARD', crawl.keys.suspects) == 0 then return false end
  local isBusy, hasSuspect = heldByCaller(crawl)
  if isOurs and isBusy then return true end
  local entry = not hasSuspect and suspects.choose(crawl) or nil
  if entry or volunteer then meta.set(crawl, 'volunteer', entry and crawl.caller or '') end
  return entry ~= nil, not isBusy and entry or nil
end

-- Takes a chosen suspect out of the queue, and starts the delay timer of its domain. Nil where its record vanished.
function suspects.take(crawl, entry)
  local sortKey, d = queue.sortKeyOf(entry), domains.of(crawl, queue.domainOf(entry))
  local request = queue.requestOf(d.name, sortKey, delayTimer.delay(crawl, d))
  request.crashes = reader.number(redis.call('HGET', crawl.keys.crashes, request.id)) or 1
  redis.call('ZREM', crawl.keys.suspects, entry)
  if #losses.withRecords(crawl, { request }) == 0 then return nil end
  d.active = d.active + 1
  delayTimer.start(crawl, d, crawl.args.lease.random, crawl.nowMs)
  domains.markChanged(crawl, d)
  return request
end
