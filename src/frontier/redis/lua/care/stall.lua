-- A crawl that stands still although requests are left: somebody deleted an index, or Redis evicted it. No verb finds these
-- requests again, so the nodes would wait for ever. After STALL_MS one node rebuilds the indexes from the records
-- (src/frontier/care/repair.ts).
--
-- By the invariants this is never so of a crawl that waits for something: then a domain is among the waiting, a request is
-- leased, or the crawl is not open. And every record is in a queue, leased or failed.
--
-- meta: stall_since: when a lease first found the crawl so · stall_owner: the incarnation that rebuilds · stall_tried:
-- run_leased + 1 after the last rebuild · stall_left: records in no queue that it left · stall_drains: 1 while nothing is leased, so
-- that a crawl with such records, whose other requests keep its nodes busy, comes to stand still

-- Records that are in no queue: too few where failed requests have no record, never too many.
local function unqueued(crawl)
  return redis.call('HLEN', crawl.keys.requests) - losses.found(crawl) - meta.number(crawl, 'stall_left')
end

-- The same of requests that wait, as far as the counters miss some. Where no request is missing, all others are of requests that are
-- done: somebody put the key back as it was earlier, and they would be crawled again. Where some are lost, they may be those.
local function orphans(crawl)
  local count, missing = unqueued(crawl), math.max(0, losses.missing(crawl))
  if count <= missing then return count end
  if missing == 0 and meta.number(crawl, 'lost') == 0 then
    losses.dropUnqueued(crawl)
    return 0
  end
  for _, name in ipairs({ 'came_back', 'stall_left' }) do meta.add(crawl, name, count - missing) end
  return missing
end

-- Whether requests are left that no lease can find.
local function isStuck(crawl)
  local at = crawl.keys
  local volunteer = meta.get(crawl, 'volunteer')
  local hasSuspect = redis.call('ZCARD', at.suspects) > 0
    and not (volunteer and volunteer ~= crawl.caller and nodes.isLive(crawl, volunteer))
  return (redis.call('ZCARD', at.queue) > 0 or hasSuspect or redis.call('HLEN', at.leases) > 0)
    and redis.call('ZCARD', at.ready) == 0 and redis.call('ZCARD', at.waiting) == 0
end

-- Whether a node holds a lease that is live, or whose leases recovery will move. O(leases).
function stall.isLeased(crawl)
  for _, packed in ipairs(redis.call('HVALS', crawl.keys.leases)) do
    local lease = leaseRecords.unpack(packed)
    if lease and (nodes.isLive(crawl, lease.node) or redis.call('ZRANK', crawl.keys.dead, lease.node)) then return true end
  end
  return false
end

local function claim(crawl)
  meta.set(crawl, 'stall_owner', crawl.caller)
  meta.set(crawl, 'stall_since', crawl.nowMs)
  return 'rebuild'
end

-- Whether a node rebuilds the indexes now, and has paused the crawl for it.
function stall.isRebuilding(crawl) return meta.get(crawl, 'repairing') and meta.get(crawl, 'stall_owner') end

-- Called by a lease that got nothing. mayLease: it would have taken a request. O(1), and O(leases) once per STALL_MS.
-- Returns Stall of types/leases.ts; nil for none.
function stall.look(crawl, isOpen, mayLease)
  if meta.get(crawl, 'restoring') then return nil end
  local owner = meta.get(crawl, 'stall_owner')
  local isOwned = owner and owner ~= crawl.caller and nodes.isLive(crawl, owner)
  if stall.isRebuilding(crawl) then return not nodes.isLive(crawl, owner) and claim(crawl) or nil end
  if not isOpen then return nil end
  local hasOrphans = orphans(crawl) > 0
  if not hasOrphans and not isStuck(crawl) then
    if meta.get(crawl, 'stall_since') then meta.set(crawl, 'stall_since', '') end
    return nil
  end
  if not meta.get(crawl, 'stall_since') then meta.set(crawl, 'stall_since', crawl.nowMs) end
  local found = hasOrphans and 'suspected' or nil
  local hasWaited = meta.get(crawl, 'stall_drains') or crawl.nowMs - meta.number(crawl, 'stall_since') >= limits.STALL_MS
  if not mayLease or isOwned or not hasWaited then return found end
  if stall.isLeased(crawl) then
    meta.set(crawl, 'stall_since', crawl.nowMs)
    return found
  end
  if meta.number(crawl, 'stall_tried') == meta.number(crawl, 'run_leased') + 1 then return 'hopeless' end
  return claim(crawl)
end

-- Called with each heartbeat of a node, whether the crawl is busy or not: records in no queue are not leased by themselves. O(1).
function stall.lookBesides(crawl)
  local isOpen = meta.get(crawl, 'control') == 'running' and not meta.get(crawl, 'closing')
  local hasOrphans = isOpen and not meta.get(crawl, 'restoring') and orphans(crawl) > 0
  if not hasOrphans then
    if meta.get(crawl, 'stall_drains') then meta.set(crawl, 'stall_drains', '') end
  elseif not meta.get(crawl, 'stall_since') then
    meta.set(crawl, 'stall_since', crawl.nowMs)
  elseif crawl.nowMs - meta.number(crawl, 'stall_since') >= limits.STALL_MS then
    meta.set(crawl, 'stall_drains', '1')
  end
end

-- The indexes were built anew.
function stall.noteRebuilt(crawl)
  for _, name in ipairs({ 'stall_since', 'stall_owner', 'stall_left', 'stall_drains' }) do meta.set(crawl, name, '') end
  meta.set(crawl, 'stall_tried', meta.number(crawl, 'run_leased') + 1)
  meta.set(crawl, 'stall_left', math.max(0, unqueued(crawl)))
end
