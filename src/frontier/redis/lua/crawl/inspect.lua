-- Read where one request stands, and what the dupefilter says of it.
--
-- args: id · fingerprint · mark: the same as the dupefilter stores it · domain
-- Returns by name: seen · life: { letter (dupefilters/state.lua), atMs, status: HTTP or 0, attempts } · record · crashes · node,
--   leasedAtMs: of its lease · failedAtUs, failure: JSON of why · dueAtMs: of a delayed one · opensAtMs: when its domain may be leased
--   from again. Instants are by the server's clock. All but seen are absent where there is nothing. O(1).
verbs.register('inspect', { 'no-writes' }, function(crawl, args)
  clock.read(crawl)
  local at, id = crawl.keys, args.id
  local lease = leaseRecords.read(crawl, { id })[1]
  local letter, atMs, status, attempts = state.read(crawl, args.fingerprint)
  local d = domains.unpack(args.domain, redis.call('HGET', at.domains, args.domain))
  local record = redis.call('HGET', at.requests, id)
  local _, dueAt = storedRecord.times(record or '')
  local opensAt = d and delayTimer.dueAt(d) or 0
  return verbs.named({
    seen = dupefilters.of(crawl).seen(crawl, { args.mark })[1],
    life = letter and { letter, atMs, status, attempts },
    record = storedRecord.json(record),
    crashes = redis.call('HGET', at.crashes, id),
    node = lease and lease.node,
    leasedAtMs = lease and lease.atMs - crawl.aheadMs,
    failedAtUs = redis.call('ZSCORE', at.failed, id),
    failure = redis.call('HGET', at.failures, id),
    dueAtMs = dueAt and dueAt > 0 and dueAt - crawl.aheadMs or nil,
    opensAtMs = opensAt > crawl.nowMs and opensAt - crawl.aheadMs or nil,
  })
end)
