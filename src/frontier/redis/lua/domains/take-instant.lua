-- Take the next instant at which a domain may be asked, for a request that has no lease.
-- Atomic with leasing: the next lease of the domain keeps its distance from that instant.
--
-- args: domain · withinMs: how far ahead the instant may be · random in [0, 1)
-- Returns in how many ms the instant is; nothing where it is later, or the domain has all the leases that it may have.
-- O(log n).
verbs.register('take_instant', { 'crawl' }, function(crawl, args)
  local d = domains.of(crawl, args.domain)
  local atMs = math.max(crawl.nowMs, delayTimer.dueAt(d))
  if d.active >= domains.limit(crawl, d) or atMs - crawl.nowMs > args.withinMs then return nil end
  delayTimer.start(crawl, d, args.random, atMs)
  domains.markChanged(crawl, d)
  return atMs - crawl.nowMs
end)
