-- Mark all incarnations that fell silent as dead, then end a bounded number of their leases. Each of these requests counts
-- a crash; with MAX_CRASHES it fails as `crashed`, else it is pending again as a suspect. Any node calls it, repeatedly.
-- Atomic: from the marking on, the dead node's tokens have no effect.
--
-- args: most: leases ended at most
-- Returns by name: moved: leases ended · dead: incarnations that still hold leases · incarnations, nodes, counts: the dead
-- ones that this call handled, their node ids, and how many leases of each it ended. O(nodes + leases).
local MAX_CRASHES = 3

-- The id of a node, as it joined.
local function nodeIdOf(crawl, incarnation)
  local info = cjson.decode(redis.call('HGET', crawl.keys['node-info'], incarnation) or '{}')
  return info.id or incarnation
end

-- Counts a crash of a request whose node died while processing it: makes it a suspect, or fails it.
local function suspect(crawl, id, lease)
  local crashes = redis.call('HINCRBY', crawl.keys.crashes, id, 1)
  if crashes < MAX_CRASHES then
    queue.makePending(crawl, lease.domain, lease.order .. id, crashes)
    state.note(crawl, { id }, 'pending')
    return
  end
  leases.fail(crawl, id, cjson.encode({ reason = 'crashed', attempts = crashes, crashes = crashes,
    node = nodeIdOf(crawl, lease.node) }))
  state.note(crawl, { id }, 'failed')
  counters.add(crawl, 'crashed/count', 1)
end

verbs.register('recover', { 'allow-oom' }, function(crawl, args)
  local answer = { moved = 0, dead = 0, incarnations = {}, nodes = {}, counts = {} }
  if not meta.exists(crawl) then return verbs.named(answer) end
  meta.read(crawl)
  answers.forgetArrived(crawl)
  nodes.markDead(crawl)
  for _, incarnation in ipairs(redis.call('ZRANGE', crawl.keys.dead, 0, -1)) do
    local ids, ended = {}, {}
    for i, found in ipairs(answer.moved < args.most and leases.of(crawl, incarnation, args.most - answer.moved) or {}) do
      ids[i], ended[i] = found[1], found[2]
    end
    leases.finish(crawl, ids, ended)
    for i, lease in ipairs(ended) do suspect(crawl, ids[i], lease) end
    answer.moved = answer.moved + #ended
    local isDone = nodes.held(crawl, incarnation) <= 0
    if isDone or #ended > 0 then
      local n = #answer.nodes + 1
      answer.incarnations[n], answer.nodes[n], answer.counts[n] = incarnation, nodeIdOf(crawl, incarnation), #ended
    end
    if isDone then nodes.drop(crawl, incarnation) end
  end
  verbs.save(crawl)
  answer.dead = redis.call('ZCARD', crawl.keys.dead)
  return verbs.named(answer)
end)
