-- A request that was in work when its node died is a suspect: it is leased alone, to a node that holds nothing else. One
-- incarnation at a time volunteers (meta.volunteer): it empties itself, then processes the suspects one by one.
local LOOK_AT = 100

-- The first suspect whose domain may be asked; a domain that must wait is put among the waiting, so that it is known when
-- to ask again.
local function firstEligible(crawl)
  for _, entry in ipairs(redis.call('ZRANGE', crawl.keys.suspects, 0, LOOK_AT - 1)) do
    local d = domains.of(crawl, queue.domainOf(entry))
    if domains.dueAt(d) > crawl.nowMs then
      if d.record.stands ~= 'waiting' then domains.move(crawl, d) end
    elseif d.record.active < domains.limit(crawl) then
      return entry
    end
  end
end

local function take(crawl, entry)
  local place, d = queue.placeOf(entry), domains.of(crawl, queue.domainOf(entry))
  local request = { id = queue.idOf(place), order = queue.orderOf(place), domain = d.name, delay = domains.delay(crawl, d) }
  redis.call('ZREM', crawl.keys.suspects, entry)
  d.record.active = d.record.active + 1
  domains.startClock(crawl, d, crawl.args.lease.random)
  domains.move(crawl, d)
  return request, tonumber(redis.call('HGET', crawl.keys.crashes, request.id) or 1)
end

-- Whether this node leases for the suspects, and nothing else; then also the request that it takes, if it is empty
-- already, and its crashes.
function suspects.volunteer(crawl)
  local volunteer = meta.get(crawl, 'volunteer')
  local isOurs = volunteer == crawl.caller
  if volunteer and not isOurs and nodes.isLive(crawl, volunteer) then return false end
  if not isOurs and redis.call('ZCARD', crawl.keys.suspects) == 0 then
    if volunteer then meta.set(crawl, 'volunteer', '') end
    return false
  end
  local isBusy = crawl.args.lease.holding > 0 or nodes.held(crawl, crawl.caller) > 0
  -- It processes a suspect, or empties itself for one.
  if isOurs and isBusy then return true end
  local entry = firstEligible(crawl)
  if not entry then
    if volunteer then meta.set(crawl, 'volunteer', '') end
    return false
  end
  meta.set(crawl, 'volunteer', crawl.caller)
  if isBusy then return true end
  return true, take(crawl, entry)
end
