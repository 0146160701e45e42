-- Take up to max due and polite requests, best first over all domains, and report the state of the crawl.
-- Atomic: order, delays and concurrency hold for all nodes together because they are decided here, on the server's clock.
--
-- args.lease: max · holding: how many requests the node processes now · random in [0, 1) · crawl: id of the crawl the
--   node joined · pipelines: outboxes that must be empty in a finished crawl; absent for none · cookies: the version of the
--   cookies that the node knows; absent: it wants none · part: 1 in a partition, whose state is wanted too · server: see
--   serverData.refuseOther; absent but in a Cluster
-- Returns by name: call: number of the call that created the leases; call number and request id form the token · ids,
--   domains, records, delays (ms), in order · crashes of each · waitMs: when to ask again · control, finished,
--   acceptedInRun, closing, seedsWaiting, idleMs, full: the state of the crawl · cookies: what has changed of them, as
--   cookies.since returns it; absent where nothing has · in a partition also what partition.describe adds.
-- O(k log n) for k leases.
verbs.register('lease', {}, function(crawl, args)
  meta.read(crawl)
  nodes.refuseDead(crawl, args.lease.crawl)
  serverData.refuseOther(args.lease.server)
  answers.forgetArrived(crawl)
  local answer = leasing.run(crawl)
  verbs.save(crawl)
  return answer
end)
