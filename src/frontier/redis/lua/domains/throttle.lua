-- Block a domain for a while, or change its delay, for every node. Atomic with leasing: the next lease obeys.
--
-- args: domain · source (setting | robots | autothrottle | retry-after) · delayMs or absent · forMs or absent
-- Returns OK. O(log n). A domain is blocked for a day at most.
local A_DAY = 86400000

verbs.register('throttle', {}, function(crawl, args)
  meta.read(crawl)
  local d = domains.of(crawl, args.domain)
  if args.delayMs then
    d.delays = d.delays or {}
    d.delays[args.source == 'retry-after' and 'setting' or args.source] = args.delayMs
    -- A delay that is learnt after a lease counts from that lease on.
    local delay = delayTimer.delay(crawl, d)
    if delay > 0 and d.lastAt > 0 then d.nextAt = math.max(d.nextAt, math.min(d.lastAt, crawl.nowMs) + delay) end
  end
  if args.forMs then d.blockedUntil = math.max(d.blockedUntil, crawl.nowMs + math.min(args.forMs, A_DAY)) end
  domains.markChanged(crawl, d)
  verbs.save(crawl)
  return redis.status_reply('OK')
end)
