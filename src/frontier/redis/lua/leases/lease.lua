-- Take up to max due and polite requests, best first over all domains, and report the state of the crawl.
-- Atomic: order, delays and concurrency hold for all nodes together because they are decided here, on the server's clock.
--
-- args.lease: max · holding: how many requests the node processes now · random in [0, 1) · pipelines: outboxes
--   that must be empty in a finished crawl; absent for none · cookies: the version of the cookies that the node knows;
--   absent: it wants none · server: see serverData.refuseOther; absent but in a
--   Cluster
-- Returns { JSON, ids, records, what has changed of the cookies, as cookies.since returns it; absent where nothing has }. The
--   JSON has call: number of the call that created the leases; call number and request id form the token · leases: domain,
--   delayMs, crashes of each, in the order of the ids · waitMs: when to ask again · crawl: its state. O(k log n) for k leases.
verbs.register('lease', { 'crawl', 'live-node' }, function(crawl, args)
  serverData.refuseOther(args.lease.server)
  return grantLeases.run(crawl)
end)
