-- End the claim of a robots.txt with what came of its fetch.
-- Atomic: a node that was declared dead, or that has ended its claim, changes nothing.
--
-- args: origin · domain, call: of the claim · the fields of RobotsResult (robots-state.ts) · names, amounts: of
--   counters to add
-- Returns 1; 0 where the claim was lost. O(log n).
local results = {
  rules = function(crawl, args, record)
    record.state, record.text, record.delayMs = 'rules', args.text, args.delayMs
    record.untilMs, record.url, record.failures = domains.atMostADay(crawl, args.forMs), nil, 0
  end,
  unreachable = function(crawl, args, record)
    record.state, record.text, record.reason = 'unreachable', args.why, args.reason
    record.untilMs, record.url, record.failures = domains.atMostADay(crawl, args.forMs), nil, 0
  end,
  failed = function(_, _, record) record.url, record.failures = nil, record.failures + 1 end,
  later = function(_, args, record) record.url, record.hops = args.url, args.hops end,
}

verbs.register('store_robots', { 'allow-oom', 'crawl', 'live-node' }, function(crawl, args)
  local record = origins.read(crawl, args.origin)
  if not record or record.node ~= crawl.caller or record.call ~= args.claim then return 0 end
  -- Sent again after a lost reply: it is stored already.
  if record.state ~= 'claimed' then return 1 end
  record.failures = record.failures or 0
  results[args.kind](crawl, args, record)
  origins.wake(crawl, args.domain, record)
  if args.afterMs then
    record.state, record.untilMs = 'waiting', domains.atMostADay(crawl, args.afterMs)
    if args.afterMs > 0 then origins.rest(crawl, args.domain, record, args.afterMs) end
  end
  for i, name in ipairs(args.names) do counters.add(crawl, name, args.amounts[i]) end
  origins.write(crawl, args.origin, record)
  return 1
end)
