-- Leave a domain alone for a while, or change its delay, for every node. Atomic with leasing: the next lease obeys.
--
-- args: domain · source (setting | robots | autothrottle | retry-after) · delayMs or absent · forMs or absent
-- Returns OK. O(log n). A day is the longest that a domain is left alone.
local A_DAY = 86400000
local FIELDS = { setting = 'delaySetting', robots = 'delayRobots', autothrottle = 'delayAuto', ['retry-after'] = 'delaySetting' }

verbs.register('throttle', {}, function(crawl, args)
  meta.read(crawl)
  local d = domains.of(crawl, args.domain)
  local r = d.record
  if args.delayMs then
    r[FIELDS[args.source]] = args.delayMs
    -- A delay that is learnt after a lease counts from that lease on.
    local delay = domains.delay(crawl, d)
    if delay > 0 and r.lastAt > 0 then r.nextAt = math.max(r.nextAt or 0, math.min(r.lastAt, crawl.nowMs) + delay) end
  end
  if args.forMs then r.blockedUntil = math.max(r.blockedUntil or 0, crawl.nowMs + math.min(args.forMs, A_DAY)) end
  domains.markChanged(crawl, d)
  verbs.save(crawl)
  return redis.status_reply('OK')
end)
