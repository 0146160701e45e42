-- Take up to max due and polite requests, best first over all domains, and say how the crawl stands.
-- Atomic: order, delays and concurrency hold for all nodes together because they are decided here, on one clock.
--
-- args.lease: max · holding: how many requests the node processes now · random in [0, 1) · crawl: that this node joined
-- Returns by name: call: its number, half of the token of each lease · ids, domains, records, delays (ms), in order ·
--   crashes of each · waitMs · control, finished, acceptedInRun, closing, seedsWaiting, idleMs, full: how the crawl stands.
-- O(k log n) for k leases.
verbs.register('lease', {}, function(crawl, args)
  meta.read(crawl)
  nodes.refuseDead(crawl, args.lease.crawl)
  answers.forgetArrived(crawl)
  local answer = leasing.run(crawl)
  verbs.save(crawl)
  return answer
end)
