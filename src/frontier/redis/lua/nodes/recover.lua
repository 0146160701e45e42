-- Mark all incarnations that fell silent as dead, then end a bounded number of their leases. Each of these requests counts
-- a crash; with the last allowed one it fails as `crashed`, else it is pending again as a suspect. Any node calls it, repeatedly.
-- Atomic: from the marking on, the dead node's tokens have no effect.
--
-- args: most: leases ended at most · dead: incarnations that were declared dead in another partition
-- Returns by name: moved: leases ended · dead: incarnations that still hold leases · incarnations, nodes, counts: the dead
-- ones that this call handled, their node ids, and how many leases of each it ended · failed, records, crashes: the requests
-- that failed; a record is '' where it is not kept. O(nodes + leases).
local MAX_CRASHES = 3
-- While nodes die that no suspect explains, somebody kills them from outside: then a suspect proves less by its crashes.
local MAX_CRASHES_AMONG_KILLS = 5
-- Two such deaths within so many node timeouts, or a minute: a request that kills its nodes explains one, its first.
local KILLS_WITHIN, KILLS_WITHIN_MS = 10, 60000

-- The id of a node, as it joined.
local function nodeIdOf(crawl, incarnation)
  local info = cjson.decode(redis.call('HGET', crawl.keys['node-info'], incarnation) or '{}')
  return info.id or incarnation
end

local function noteKill(crawl)
  meta.set(crawl, 'killed_before', meta.number(crawl, 'killed_at'))
  meta.set(crawl, 'killed_at', crawl.nowMs)
end

local function maxCrashes(crawl)
  local withinMs = math.max(KILLS_WITHIN_MS, KILLS_WITHIN * meta.number(crawl, 'node_timeout', 30000))
  return meta.number(crawl, 'killed_before') > crawl.nowMs - withinMs and MAX_CRASHES_AMONG_KILLS or MAX_CRASHES
end

-- Counts a crash of a request whose node died while processing it: makes it a suspect, or fails it.
local function suspect(crawl, id, lease, answer)
  local crashes = redis.call('HINCRBY', crawl.keys.crashes, id, 1)
  if crashes < maxCrashes(crawl) then
    queue.makePending(crawl, lease.domain, lease.order .. id, crashes)
    state.note(crawl, { id }, 'pending')
    return
  end
  leases.fail(crawl, id, cjson.encode({ reason = 'crashed', attempts = crashes, crashes = crashes,
    node = nodeIdOf(crawl, lease.node) }))
  state.note(crawl, { id }, 'failed')
  counters.add(crawl, 'crashed/count', 1)
  local n = #answer.failed + 1
  answer.failed[n], answer.crashes[n] = id, crashes
  answer.records[n] = redis.call('HGET', crawl.keys.requests, id) or ''
end

verbs.register('recover', { 'allow-oom' }, function(crawl, args)
  local answer = { moved = 0, dead = 0, incarnations = {}, nodes = {}, counts = {}, failed = {}, records = {}, crashes = {} }
  if not meta.exists(crawl) then return verbs.named(answer) end
  meta.read(crawl)
  answers.forgetArrived(crawl)
  nodes.markDead(crawl)
  for _, incarnation in ipairs(args.dead) do nodes.declareDead(crawl, incarnation) end
  for _, incarnation in ipairs(redis.call('ZRANGE', crawl.keys.dead, 0, -1)) do
    local ids, ended = {}, {}
    for i, found in ipairs(answer.moved < args.most and leases.of(crawl, incarnation, args.most - answer.moved) or {}) do
      ids[i], ended[i] = found[1], found[2]
    end
    leases.finish(crawl, ids, ended)
    for i, lease in ipairs(ended) do suspect(crawl, ids[i], lease, answer) end
    answer.moved = answer.moved + #ended
    local isDone = nodes.held(crawl, incarnation) <= 0
    if isDone or #ended > 0 then
      local n = #answer.nodes + 1
      answer.incarnations[n], answer.nodes[n], answer.counts[n] = incarnation, nodeIdOf(crawl, incarnation), #ended
    end
    local wasSuspect = #ended == 1 and ended[1].crashes > 0
    if isDone and not wasSuspect then noteKill(crawl) end
    if isDone then nodes.drop(crawl, incarnation) end
  end
  verbs.save(crawl)
  answer.dead = redis.call('ZCARD', crawl.keys.dead)
  return verbs.named(answer)
end)
