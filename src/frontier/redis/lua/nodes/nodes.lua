-- Incarnations: who is live, who is dead, and how one is forgotten.

-- ZRANK, because ZSCORE would format the instant, which takes 1 µs.
function nodes.isLive(crawl, incarnation) return redis.call('ZRANK', crawl.keys.nodes, incarnation) end

-- How many leases it holds.
function nodes.held(crawl, incarnation) return reader.number(redis.call('HGET', crawl.keys.held, incarnation)) or 0 end

-- For how long a node may be silent before it counts as dead.
function nodes.timeoutMs(crawl) return meta.number(crawl, 'node_timeout', limits.FIRST_NODE_TIMEOUT_MS) end

-- How many were heard from within this time.
function nodes.heardWithin(crawl, ms) return redis.call('ZCOUNT', crawl.keys.nodes, crawl.nowMs - ms, '+inf') end

-- Refuses the call of a node that is not live: it was declared dead, or the crawl it was in is not this one.
function nodes.refuseDead(crawl)
  if nodes.isLive(crawl, crawl.caller) then return end
  nodes.refuseOfOther(crawl)
  verbs.refuse('CRAWLNODE_DEAD this node was declared dead')
end

-- Refuses the call of a live node that knows later data than the store has.
function nodes.refuseOlder(crawl)
  if meta.progress(crawl) >= crawl.args.newest or not nodes.isLive(crawl, crawl.caller) then return end
  verbs.refuse('CRAWLNODE_OLDER the records of this crawl were put back as they were earlier')
end

function nodes.refuseOfOther(crawl)
  if meta.get(crawl, 'crawl') ~= crawl.args.crawl then verbs.refuse('CRAWLNODE_GONE another crawl of this name has begun') end
end

-- From now on its tokens have no effect.
function nodes.declareDead(crawl, incarnation)
  if redis.call('ZREM', crawl.keys.nodes, incarnation) == 0 then return end
  redis.call('ZADD', crawl.keys.dead, crawl.nowMs, incarnation)
  events.nodeDied(crawl, incarnation)
end

-- Counts all heartbeats from now, if the caller is live. Returns whether it is.
function nodes.hearAll(crawl)
  if not nodes.isLive(crawl, crawl.caller) then return false end
  for _, incarnation in ipairs(redis.call('ZRANGE', crawl.keys.nodes, 0, -1)) do
    redis.call('ZADD', crawl.keys.nodes, crawl.nowMs, incarnation)
  end
  return true
end

-- Marks incarnations without a recent heartbeat as dead.
function nodes.markDead(crawl)
  local key, timeoutMs = crawl.keys.nodes, nodes.timeoutMs(crawl)
  for _, incarnation in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', crawl.nowMs - timeoutMs)) do
    nodes.declareDead(crawl, incarnation)
  end
end

-- What a node says of itself.
function nodes.info(crawl, incarnation) return reader.json(redis.call('HGET', crawl.keys['node-info'], incarnation)) or {} end

-- The id of a node, as it joined.
function nodes.idOf(crawl, incarnation)
  local id = nodes.info(crawl, incarnation).id
  return type(id) == 'string' and id or incarnation
end

-- Forgets a node whose leases are all ended.
function nodes.drop(crawl, incarnation)
  redis.call('ZREM', crawl.keys.nodes, incarnation)
  redis.call('ZREM', crawl.keys.dead, incarnation)
  for _, word in ipairs({ 'node-info', 'held', 'settled' }) do redis.call('HDEL', crawl.keys[word], incarnation) end
  redis.call('HDEL', crawl.keys.telemetry, 'node:' .. incarnation)
  answers.forgetCaller(crawl, incarnation)
end
