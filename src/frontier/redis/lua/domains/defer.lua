-- Move the delay timer of a domain for a lease whose download begins later than its delay allows, for every node.
-- Atomic with leasing: no other node gets the instant that this lease is given.
--
-- args: id, number: the request of the lease, and the number of the call that created it · random in [0, 1)
-- Returns the ms to wait before the download, or -1 where the lease is no longer this node's. O(log n).
verbs.register('defer', { 'allow-oom', 'crawl', 'live-node', 'once' }, function(crawl, args)
  local lease = leaseRecords.read(crawl, { args.id })[1]
  if not lease or lease.node ~= crawl.caller or lease.call ~= args.number then return -1 end
  local d = domains.of(crawl, lease.domain)
  -- Where nothing was leased from the domain since, the instant of this lease is still its own.
  local dueAt = d.lastAt == lease.atMs and d.blockedUntil or delayTimer.dueAt(d)
  local beginAt = math.max(crawl.nowMs, dueAt)
  delayTimer.start(crawl, d, args.random, beginAt)
  domains.markChanged(crawl, d)
  return beginAt - crawl.nowMs
end)
