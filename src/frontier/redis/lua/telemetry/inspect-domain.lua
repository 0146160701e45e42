-- Read all that is known of one domain, also of one that no node has reported of yet.
--
-- args: name
-- Returns JSON of InspectedDomain (types/telemetry.ts); nothing where the crawl knows nothing of it. O(log n).
local function robotsOf(crawl, name)
  local found = {}
  for _, scheme in ipairs({ 'https://', 'http://' }) do
    local packed = redis.call('HGET', crawl.keys.robots, scheme .. name)
    local record = packed and reader.map(packed)
    if record and record.state then
      found[#found + 1] = { origin = scheme .. name, state = record.state, reason = record.reason or cjson.null,
        delayMs = record.delayMs or 0, forMs = math.max(0, (tonumber(record.untilMs) or 0) - crawl.nowMs) }
    end
  end
  return found
end

verbs.register('inspect_domain', { 'no-writes', 'crawl-if-any' }, function(crawl, args)
  local at, name = crawl.keys, args.name
  local robots = robotsOf(crawl, name)
  local isKnown = #robots > 0 or redis.call('HEXISTS', at.domains, name) == 1 or redis.call('HEXISTS', at['domain-stats'], name) == 1
  local domain = isKnown and domainStates.of(crawl, { name }, true)[1]
  if not domain then return nil end
  domain.robots = robots
  return cjson.encode(domain)
end)
