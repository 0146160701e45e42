-- Compare the leases that the store holds for this incarnation with those its node holds. A lease that only the store knows
-- (its reply was lost, or the store was rolled back) returns to pending uncounted, unless it is so young that its reply may
-- still arrive. Atomic with respect to the node's own settles.
--
-- args: graceMs · ids: of the leases held · calls: numbers of the calls that created them, in the same order · crawl: id of
--   the crawl that this node joined
-- Returns by name: returned: how many · lost: ids that the store does not know as this node's. O(leases).
verbs.register('reconcile', { 'allow-oom' }, function(crawl, args)
  meta.read(crawl)
  nodes.refuseDead(crawl, args.crawl)
  answers.forgetArrived(crawl)
  local lost, isHeld, heldCount = {}, {}, 0
  for i, lease in ipairs(leases.read(crawl, args.ids)) do
    if lease and lease.node == crawl.caller and lease.call == args.calls[i] then
      isHeld[args.ids[i]], heldCount = true, heldCount + 1
    else
      lost[#lost + 1] = args.ids[i]
    end
  end
  local ids, returned = {}, {}
  if nodes.held(crawl, crawl.caller) > heldCount then
    for _, found in ipairs(leases.of(crawl, crawl.caller, math.huge)) do
      if not isHeld[found[1]] and crawl.nowMs - found[2].atMs >= args.graceMs then
        ids[#ids + 1], returned[#returned + 1] = found[1], found[2]
      end
    end
  end
  leases.returnToQueue(crawl, ids, returned)
  verbs.save(crawl)
  return verbs.named({ returned = #returned, lost = lost })
end)
