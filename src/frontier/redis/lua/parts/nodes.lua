-- Incarnations: who is live, who is dead, and how one is forgotten.
-- uses: meta

-- Who calls, where only a node does.
local incarnation = ARGV[1]

-- (ZSCORE would write the heartbeat's instant out: 1 µs.)
local function isLive(incarnation) return call('ZRANK', nodesKey, incarnation) end

-- What a node that is not live is told: that it is dead, or that the crawl it was in is not this one.
local function deathIn(crawl) -- rarely: seldom
  if call('HGET', metaKey, 'crawl') ~= crawl then return 'CRAWLNODE_GONE another crawl of this name has begun' end
  return 'CRAWLNODE_DEAD this node was declared dead'
end

-- Incarnations that fell silent are dead from now on: their tokens have no effect.
local function markDead()
  local timeoutMs = number('node_timeout', 30000)
  -- A heartbeat from the future is a clock that jumped back (a failover): it counts from now.
  local future = '(' .. string.format('%.0f', nowMs + timeoutMs)
  for _, incarnation in ipairs(call('ZRANGEBYSCORE', nodesKey, future, '+inf')) do
    call('ZADD', nodesKey, nowMs, incarnation)
  end
  for _, incarnation in ipairs(call('ZRANGEBYSCORE', nodesKey, '-inf', nowMs - timeoutMs)) do
    call('ZREM', nodesKey, incarnation)
    call('ZADD', deadKey, nowMs, incarnation)
    if meta.volunteer == incarnation then setMeta('volunteer', '') end
  end
end

-- Forgets a node whose leases are all ended.
local function dropIncarnation(incarnation)
  call('ZREM', nodesKey, incarnation)
  call('ZREM', deadKey, incarnation)
  call('HDEL', infoKey, incarnation)
  call('HDEL', heldKey, incarnation)
  call('HDEL', pagesKey, incarnation)
  for _, field in ipairs(call('HKEYS', answersKey)) do
    if sub(field, 1, #incarnation + 1) == incarnation .. ':' then call('HDEL', answersKey, field) end
  end
end
