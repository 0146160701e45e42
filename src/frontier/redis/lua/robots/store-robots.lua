-- End the claim of a robots.txt with what came of its fetch.
-- Atomic: a node that was declared dead, or that has ended its claim, changes nothing.
--
-- args: origin · domain, call: of the claim · kind: rules | failed | later | unreachable (RobotsResult) · text · forMs ·
--   afterMs · delayMs · url · hops · names, amounts: of counters to add · crawl: id of the crawl that the node joined
-- Returns 1; 0 where the claim was lost. O(log n).
local A_DAY = 86400000

local results = {
  rules = function(crawl, args, record)
    record.state, record.text, record.delayMs = 'rules', args.text, args.delayMs
    record.untilMs = crawl.nowMs + math.min(args.forMs, A_DAY)
    record.url, record.failures = nil, 0
  end,
  unreachable = function(crawl, args, record)
    record.state, record.text, record.untilMs = 'unreachable', args.text, crawl.nowMs + math.min(args.forMs, A_DAY)
    record.url, record.failures = nil, 0
  end,
  failed = function(_, _, record) record.url, record.failures = nil, record.failures + 1 end,
  later = function(_, args, record) record.url, record.hops = args.url, args.hops end,
}

verbs.register('store_robots', { 'allow-oom' }, function(crawl, args)
  meta.read(crawl)
  nodes.refuseDead(crawl, args.crawl)
  local record = origins.read(crawl, args.origin)
  if not record or record.node ~= crawl.caller or record.call ~= args.claim then return 0 end
  -- Sent again after a lost reply: it is stored already.
  if record.state ~= 'claimed' then return 1 end
  record.failures = record.failures or 0
  results[args.kind](crawl, args, record)
  origins.wake(crawl, args.domain, record)
  if args.afterMs then
    record.state, record.untilMs = 'waiting', crawl.nowMs + math.min(args.afterMs, A_DAY)
    if args.afterMs > 0 then origins.rest(crawl, args.domain, record, args.afterMs) end
  end
  for i, name in ipairs(args.names) do counters.add(crawl, name, args.amounts[i]) end
  origins.write(crawl, args.origin, record)
  verbs.save(crawl)
  return 1
end)
