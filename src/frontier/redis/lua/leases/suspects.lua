-- A request that was leased when its node died is a suspect: it is leased alone, to a node that holds nothing else. One
-- incarnation at a time is the volunteer (meta.volunteer): it finishes its other leases, then processes the suspects one by
-- one. Those with the fewest crashes come first: while somebody kills nodes from outside, the deaths spread over many suspects, and
-- the one with the most crashes is judged last.

-- Chooses the first suspect, in order, whose domain may be leased from: its entry (queue.lua), or nil. Drops what cannot be read, and changes nothing else.
function suspects.choose(crawl)
  local first = redis.call('ZRANGE', crawl.keys.suspects, 0, limits.SUSPECTS_READ - 1)
  for _, entry in ipairs(queue.entriesAmong(crawl, crawl.keys.suspects, first)) do
    local d = domains.of(crawl, queue.domainOf(entry))
    if delayTimer.dueAt(d) <= crawl.nowMs and d.active < domains.limit(crawl, d) then return entry end
  end
end

local function isBusy(crawl) return crawl.args.lease.holding > 0 or nodes.held(crawl, crawl.caller) > 0 end

-- Makes this node the volunteer where there is none and a suspect may be leased. Returns whether it is the volunteer, and the entry
-- of the suspect that it gets, if it holds no other request.
function suspects.volunteer(crawl)
  local volunteer = meta.get(crawl, 'volunteer')
  local isOurs = volunteer == crawl.caller
  if volunteer and not isOurs and nodes.isLive(crawl, volunteer) then return false end
  -- It still processes a suspect, or finishes its other leases first.
  if isOurs and isBusy(crawl) then return true end
  local entry = suspects.choose(crawl)
  if entry or volunteer then meta.set(crawl, 'volunteer', entry and crawl.caller or '') end
  return entry ~= nil, entry and not isBusy(crawl) and entry or nil
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
