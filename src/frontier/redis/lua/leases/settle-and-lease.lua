-- End leases as settle.lua does, then lease as lease.lua does, in one call for one turn of a node's loop.
-- Atomic, as both verbs are. The links of a settled page can be leased in the same call. Refused when memory is full; the
-- node then sends its settles without a lease.
--
-- args: as those of settle.lua and lease.lua
-- Returns { what settle.lua returns, what lease.lua returns, or nothing where this node is dead, or another server than it knows answers }. O(n log m).
verbs.register('settle_and_lease', { 'crawl', 'accepts' }, function(crawl, args)
  local settled = settle.run(crawl)
  local mayLease = nodes.isLive(crawl, crawl.caller) and not serverData.isOther(args.lease.server)
  return { settled, mayLease and lease.run(crawl) or {} }
end)
