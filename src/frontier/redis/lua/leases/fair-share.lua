-- Fairness between nodes, see docs/internals/leasing.md. A site whose concurrency is smaller than one node's would stay with the
-- first node, which leases again right after each settle. So a node that gets nothing while a domain may be full is recorded
-- as hungry (meta.hungry). Another node that holds more than its share of the leases then stands back: it gets nothing for a
-- moment.

-- How often a hungry node asks: the total rate stays constant.
local function pollMs(crawl) return limits.HUNGRY_POLL_MS * redis.call('ZCARD', crawl.keys.nodes) end

-- When a hungry node should ask again; nil for a node that is not.
function fairShare.hungryWaitMs(crawl)
  return meta.get(crawl, 'hungry') == crawl.caller and pollMs(crawl) or nil
end

-- Whether this node must take nothing now, because another is hungry and this one holds more than its share.
function fairShare.standsBack(crawl)
  local hungry = meta.get(crawl, 'hungry')
  if not hungry or hungry == crawl.caller then return false end
  if crawl.nowMs - meta.number(crawl, 'hungry_at') > math.max(limits.HUNGRY_MS, 2 * pollMs(crawl)) then return false end
  return nodes.held(crawl, crawl.caller) * redis.call('ZCARD', crawl.keys.nodes) > redis.call('HLEN', crawl.keys.leases)
end

-- Whether pending requests may be kept back by the concurrency of their domain. An estimate in O(1), as idle nodes ask it all
-- the time: no domain is full while there are fewer leases than its concurrency allows. Under DOWNLOAD_DELAY requests wait
-- for the delay instead, and any node may be the first to ask when it has passed.
local function mayBeFull(crawl)
  return meta.number(crawl, 'delay') == 0 and redis.call('ZCARD', crawl.keys.queue) > 0
    and redis.call('HLEN', crawl.keys.leases) >= domainLimits.leastLimit(crawl)
end

-- Records whether this node got nothing although requests may wait for the concurrency of their domain.
function fairShare.noteHunger(crawl, gotSome)
  if not gotSome and mayBeFull(crawl) then
    meta.set(crawl, 'hungry', crawl.caller)
    meta.set(crawl, 'hungry_at', crawl.nowMs)
  elseif meta.get(crawl, 'hungry') == crawl.caller then
    meta.set(crawl, 'hungry', '')
  end
end
