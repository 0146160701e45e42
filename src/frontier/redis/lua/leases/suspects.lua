-- A request that was leased when its node died is a suspect: it is leased alone, to a node that holds nothing else. One
-- incarnation at a time is the volunteer (meta.volunteer): it finishes its other leases, then processes the suspects one by
-- one. Those with the fewest crashes come first: while somebody kills nodes from outside, the deaths spread over many suspects, and
-- the one with the most crashes is judged last.

-- The first suspect whose domain may be leased from. A domain whose delay runs is put into `waiting`, which tells when to
-- ask again.
local function firstEligible(crawl)
  local first = redis.call('ZRANGE', crawl.keys.suspects, 0, limits.SUSPECTS_READ - 1)
  for _, entry in ipairs(queue.entriesAmong(crawl, crawl.keys.suspects, first)) do
    local d = domains.of(crawl, queue.domainOf(entry))
    if delayTimer.dueAt(d) > crawl.nowMs then
      if d.state ~= 'waiting' then domains.markChanged(crawl, d) end
    elseif d.active < domains.limit(crawl, d) then
      return entry
    end
  end
end

local function take(crawl, entry)
  local sortKey, d = queue.sortKeyOf(entry), domains.of(crawl, queue.domainOf(entry))
  local request = queue.requestOf(d.name, sortKey, delayTimer.delay(crawl, d))
  redis.call('ZREM', crawl.keys.suspects, entry)
  d.active = d.active + 1
  delayTimer.start(crawl, d, crawl.args.lease.random, crawl.nowMs)
  domains.markChanged(crawl, d)
  return request, reader.number(redis.call('HGET', crawl.keys.crashes, request.id)) or 1
end

-- Makes this node the volunteer where there is none and a suspect may be leased. Returns whether it is the volunteer, which
-- leases only suspects; then also the suspect that it gets and its crashes, if it holds no other request.
function suspects.takeAsVolunteer(crawl)
  local volunteer = meta.get(crawl, 'volunteer')
  local isOurs = volunteer == crawl.caller
  if volunteer and not isOurs and nodes.isLive(crawl, volunteer) then return false end
  if not isOurs and redis.call('ZCARD', crawl.keys.suspects) == 0 then
    if volunteer then meta.set(crawl, 'volunteer', '') end
    return false
  end
  local isBusy = crawl.args.lease.holding > 0 or nodes.held(crawl, crawl.caller) > 0
  -- It still processes a suspect, or finishes its other leases first.
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
