-- How domains stand in the queue: DomainState of types/telemetry.ts.

-- A robots.txt that is not known yet keeps its domain waiting until the same instant.
local function waitsForRobots(crawl, d)
  for _, scheme in ipairs({ 'https://', 'http://' }) do
    local packed = redis.call('HGET', crawl.keys.robots, scheme .. d.name)
    local record = packed and reader.map(packed)
    if record and record.restMs == d.blockedUntil then return true end
  end
  return false
end

local function delayBy(crawl, d, delay)
  if delay == 0 then return cjson.null end
  if delay == domainLimits.delay(crawl, d) then return 'settings' end
  return delay == autothrottle.delay(crawl, d) and 'autothrottle' or 'robots'
end

local PAUSED_BY = { r = 'retry_after', a = 'autothrottle' }

-- What keeps it waiting beside its delay.
local function blockedBy(crawl, d)
  if d.blockedUntil <= crawl.nowMs or d.blockedUntil < d.nextAt then return cjson.null end
  return waitsForRobots(crawl, d) and 'robots' or PAUSED_BY[d.pausedBy] or cjson.null
end

local function stateOf(crawl, d, counts)
  local delay, dueAt = delayTimer.delay(crawl, d), delayTimer.dueAt(d)
  return {
    name = d.name, leased = d.active, limit = domains.limit(crawl, d),
    pending = d.head == '' and 0
      or redis.call('ZLEXCOUNT', crawl.keys.queue, '[' .. d.name .. '\0', '(' .. d.name .. '\1'),
    delayMs = delay, delayBy = delayBy(crawl, d, delay), isDelayRandom = delay > 0 and domainLimits.isRandomized(crawl, d), dueInMs = math.max(0, dueAt - crawl.nowMs),
    blockedBy = blockedBy(crawl, d),
    latencyMs = (tonumber(counts.a) or 0) > 0 and math.floor((tonumber(counts.m) or 0) / counts.a) or 0,
  }
end

-- The states of these domains; those whose records cannot be read are left out. hasCounts: with what was reported of them.
function domainStates.of(crawl, names, hasCounts)
  local packed, counts, states = lists.read('HMGET', crawl.keys.domains, names), domainCounts.read(crawl, names), {}
  for i, name in ipairs(names) do
    local d = domains.unpack(name, packed[i])
    if d then
      local state = stateOf(crawl, d, counts[i])
      if hasCounts then state.counts = counts[i] end
      states[#states + 1] = state
    end
  end
  return states
end

-- Read the domains that nodes have reported of, the most recently active first.
--
-- args: from: how many to skip · most
-- Returns JSON of KnownDomain. O(most log n): some 15 µs for each.
verbs.register('known_domains', { 'no-writes', 'crawl-if-any' }, function(crawl, args)
  local names = redis.call('ZREVRANGE', crawl.keys['domain-recent'], lists.digits(args.from), lists.digits(args.from + args.most - 1))
  return cjson.encode(domainStates.of(crawl, names, true))
end)
