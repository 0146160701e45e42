-- Who asked for a pause, as the record of a domain has it (domains.lua).
local LETTERS = { ['retry-after'] = 'r', autothrottle = 'a' }

-- Block a domain for a while, or change its delay, for every node. Atomic with leasing: the next lease obeys.
--
-- args: domain · source (setting | robots | autothrottle; retry-after without a delay) · delayMs or absent · forMs or absent
-- O(log n).
verbs.register('throttle', { 'crawl' }, function(crawl, args)
  local d = domains.of(crawl, args.domain)
  if args.delayMs then
    d.delays = d.delays or {}
    d.delays[args.source] = args.delayMs
    delayTimer.countFromLastLease(crawl, d)
  end
  if args.forMs then
    if d.blockedUntil <= crawl.nowMs then events.domainPaused(crawl, args.domain, args.forMs, args.source) end
    local untilMs = domains.atMostADay(crawl, args.forMs)
    if untilMs > d.blockedUntil then d.blockedUntil, d.pausedBy = untilMs, LETTERS[args.source] or 's' end
  end
  domains.markChanged(crawl, d)
end)
