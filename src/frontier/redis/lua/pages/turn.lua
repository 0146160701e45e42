-- End leases as settle.lua does, then lease as lease.lua does: one call for one turn of a node's loop.
-- Atomic: so are the two by themselves; together, what a page gave is leased in the same step. Refused when memory is
-- full: then the node sends its settles alone.
--
-- args: as those of settle.lua and lease.lua
-- Returns { what settle.lua returns, what lease.lua returns, or nothing where this node is dead }. O(n log m).
verbs.register('turn', {}, function(crawl)
  meta.read(crawl)
  acceptance.check(crawl)
  answers.forgetArrived(crawl)
  local settled = settling.run(crawl)
  local leased = nodes.isLive(crawl, crawl.caller) and leasing.run(crawl) or {}
  verbs.save(crawl)
  return { settled, leased }
end)
