-- Add what a node has done since its last report. Sent by the heartbeat thread, apart from heartbeats.
-- Atomic: a report that is sent again changes nothing, and one node alone is told to record a point of the history.
--
-- args: incarnation · sequence: rises with each report of the incarnation · node: JSON of NodeFacts · domains: { name, amounts by
--   name, … } (domain-counts.lua) · events: { kind, agoMs, … }
-- Returns 1 where a point of the history is due, which the caller then records (history.lua); else 0. O(domains log n): some
-- 0.6 ms for 100.

-- Whether this is the first report since the history's last step began.
local function claimsPoint(crawl)
  local step = lists.digits(math.floor(crawl.wallMs / limits.HISTORY_STEP_MS))
  if redis.call('HGET', crawl.keys.telemetry, 'claimed') == step then return 0 end
  redis.call('HSET', crawl.keys.telemetry, 'claimed', step)
  return 1
end

verbs.register('report', { 'allow-oom', 'crawl-if-any' }, function(crawl, args)
  local at, field = crawl.keys.telemetry, 'node:' .. args.incarnation
  if not nodes.isLive(crawl, args.incarnation) then return 0 end
  local before = redis.call('HGET', at, field)
  local last = before and tonumber(string.match(before, '^%d+')) or 0
  if args.sequence <= last then return 0 end
  redis.call('HSET', at, field, lists.digits(args.sequence) .. ' ' .. args.node)
  domainCounts.add(crawl, args.domains)
  for i = 1, #args.events, 2 do
    events.add(crawl, args.events[i], { node = nodes.idOf(crawl, args.incarnation) }, args.events[i + 1])
  end
  return claimsPoint(crawl)
end)
