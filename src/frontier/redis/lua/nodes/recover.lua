-- Mark all incarnations that fell silent as dead, then end a bounded number of their leases. Each of these requests counts
-- a crash; with MAX_CRASHES it fails as `crashed`, else it is pending again as a suspect. Any node calls it, repeatedly.
-- Atomic: from the marking on, the dead node's tokens have no effect.
--
-- args: most: leases ended at most
-- Returns by name: moved: leases ended · dead: incarnations that still hold leases. O(nodes + leases).
local MAX_CRASHES = 3

-- Counts a crash of a request whose node died while processing it: makes it a suspect, or fails it.
local function suspect(crawl, id, lease)
  local crashes = redis.call('HINCRBY', crawl.keys.crashes, id, 1)
  if crashes < MAX_CRASHES then
    queue.makePending(crawl, lease.domain, lease.order .. id, crashes)
    state.note(crawl, { id }, 'pending')
    return
  end
  local info = cjson.decode(redis.call('HGET', crawl.keys['node-info'], lease.node) or '{}')
  leases.fail(crawl, id, cjson.encode({ reason = 'crashed', attempts = crashes, crashes = crashes,
    node = info.id or lease.node }))
  state.note(crawl, { id }, 'failed')
  counters.add(crawl, 'crashed/count', 1)
end

verbs.register('recover', { 'allow-oom' }, function(crawl, args)
  if not meta.exists(crawl) then return verbs.named({ moved = 0, dead = 0 }) end
  meta.read(crawl)
  answers.forgetArrived(crawl)
  nodes.markDead(crawl)
  local moved = 0
  for _, incarnation in ipairs(redis.call('ZRANGE', crawl.keys.dead, 0, -1)) do
    local ids, ended = {}, {}
    for i, found in ipairs(moved < args.most and leases.of(crawl, incarnation, args.most - moved) or {}) do
      ids[i], ended[i] = found[1], found[2]
    end
    leases.finish(crawl, ids, ended)
    for i, lease in ipairs(ended) do suspect(crawl, ids[i], lease) end
    moved = moved + #ended
    if nodes.held(crawl, incarnation) <= 0 then nodes.drop(crawl, incarnation) end
  end
  verbs.save(crawl)
  return verbs.named({ moved = moved, dead = redis.call('ZCARD', crawl.keys.dead) })
end)
