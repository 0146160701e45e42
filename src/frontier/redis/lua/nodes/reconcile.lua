-- Compare the leases that the store holds for this incarnation with those its node holds. A lease that only the store knows
-- (its reply was lost, or the store was rolled back) returns to pending uncounted, unless it is so young that its reply may
-- still arrive. Also looks whether the dupefilter is whole (dupefilters/marks.lua), and
-- the queues (care/domains-in-turn.lua, care/stall.lua). Atomic with respect to the node's own settles.
--
-- args: graceMs · ids: of the leases held · calls: numbers of the calls that created them, in the same order
-- Returns { how many were returned, ids that the store does not know as this node's }. O(leases).
verbs.register('reconcile', { 'allow-oom', 'crawl', 'live-node' }, function(crawl, args)
  local lost, isHeld, heldCount = {}, {}, 0
  for i, lease in ipairs(leaseRecords.read(crawl, args.ids)) do
    if lease and lease.node == crawl.caller and lease.call == args.calls[i] then
      isHeld[args.ids[i]], heldCount = true, heldCount + 1
    else
      lost[#lost + 1] = args.ids[i]
    end
  end
  local ids, returned = {}, {}
  if nodes.held(crawl, crawl.caller) > heldCount then
    local known, found = leaseRecords.of(crawl, crawl.caller, math.huge)
    redis.call('HSET', crawl.keys.held, crawl.caller, #found)
    for i, lease in ipairs(found) do
      if not isHeld[known[i]] and crawl.nowMs - lease.atMs >= args.graceMs then
        ids[#ids + 1], returned[#returned + 1] = known[i], lease
      end
    end
  end
  leaseRecords.returnToQueue(crawl, ids, returned)
  marks.lookClosely(crawl)
  domainsInTurn.check(crawl)
  stall.lookBesides(crawl)
  return { #returned, lost }
end)
