-- Mark all incarnations that fell silent as dead, then end a bounded number of their leases. Where a node had leased a suspect
-- last, that one counts a crash, else each of its requests does; with the last allowed one it fails as `crashed`, else it is
-- pending again as a suspect. Any node calls it, repeatedly.
-- Atomic: from the marking on, the dead node's tokens have no effect.
--
-- args: most: leases ended at most
-- Returns JSON of isDone: no incarnation holds leases any more, or none could be ended · nodes: { incarnation, id, count: of leases ended } of the
-- dead that this call handled · failed: { id: in hex, record: null where it is not kept, crashes } of the requests that failed;
-- nothing without a crawl. O(nodes + leases).

-- A node died that was not processing a suspect.
local function noteKill(crawl)
  meta.set(crawl, 'killed_before', meta.number(crawl, 'killed_at'))
  meta.set(crawl, 'killed_at', crawl.nowMs)
end

-- While nodes die that no suspect explains, somebody kills them from outside: then a suspect proves less by its crashes. Returns
-- until when that holds, if no other node is killed; 0 where it does not.
local function killsUntil(crawl)
  local withinMs = math.max(limits.KILLS_WITHIN_MS, limits.KILLS_WITHIN * nodes.timeoutMs(crawl))
  local untilMs = meta.number(crawl, 'killed_before') + withinMs
  return untilMs > crawl.nowMs and untilMs or 0
end

-- Once, a request that would fail among kills waits until they are over, and is then a suspect for the last time.
local function waitForQuiet(crawl, id, lease, untilMs)
  local rank = struct.unpack('>I5', lease.order)
  local arrival = queue.delay(crawl, lease.domain, rank == 0 and 0 or 2147483648 - rank, id, untilMs)
  local stored = redis.call('HGET', crawl.keys.requests, id)
  if stored then redis.call('HSET', crawl.keys.requests, id, storedRecord.pack(storedRecord.json(stored), arrival, untilMs)) end
  state.note(crawl, { id }, 'delayed')
end

-- Counts a crash of a request whose node died while processing it: makes it a suspect, or fails it.
local function suspect(crawl, id, lease, failed)
  local crashes, untilMs = reader.add(crawl.keys.crashes, id, 1), killsUntil(crawl)
  local most = untilMs > 0 and limits.MAX_CRASHES_AMONG_KILLS or limits.MAX_CRASHES
  if crashes < most then return leaseRecords.release(crawl, id, lease, crashes) end
  if untilMs > 0 and crashes == most then return waitForQuiet(crawl, id, lease, untilMs) end
  leaseRecords.fail(crawl, id, cjson.encode({ reason = 'crashed', attempts = crashes, crashes = crashes,
    node = nodes.idOf(crawl, lease.node) }))
  state.note(crawl, { id }, 'failed')
  counters.add(crawl, 'crashed/count', 1)
  local record = storedRecord.json(redis.call('HGET', crawl.keys.requests, id)) or cjson.null
  failed[#failed + 1] = { id = lists.hex(id), record = record, crashes = crashes }
end

verbs.register('recover', { 'allow-oom', 'crawl-if-any' }, function(crawl, args)
  local left, handled, failed = args.most, {}, {}
  nodes.markDead(crawl)
  for _, incarnation in ipairs(redis.call('ZRANGE', crawl.keys.dead, 0, -1)) do
    -- Not in steps: of a node, the one that is blamed is among all that it held.
    local ids, ended = leaseRecords.of(crawl, incarnation, left > 0 and math.huge or 0)
    local blamed = leaseRecords.newest(ended)
    local wasAlone = blamed and blamed.crashes > 0
    leaseRecords.finish(crawl, ids, ended)
    for i, lease in ipairs(ended) do
      if wasAlone and lease ~= blamed then leaseRecords.release(crawl, ids[i], lease) else suspect(crawl, ids[i], lease, failed) end
    end
    left = left - #ended
    -- By what was found: the stored number may be forged.
    local isDone = #ended < left or nodes.held(crawl, incarnation) <= 0
    if isDone or #ended > 0 then
      handled[#handled + 1] = { incarnation = incarnation, id = nodes.idOf(crawl, incarnation), count = #ended }
    end
    if isDone and not wasAlone then noteKill(crawl) end
    if isDone then nodes.drop(crawl, incarnation) end
  end
  local isDone = left == args.most or redis.call('ZCARD', crawl.keys.dead) == 0
  return cjson.encode({ isDone = isDone, nodes = handled, failed = failed })
end)
