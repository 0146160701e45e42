-- Make the caller the one node that runs start() of its spider, unless another live node does or all of it was pushed.
-- Atomic: two nodes that ask at the same time do not both run it. A node that died is replaced.
--
-- args: start: name of the field of meta with the start requests pushed
-- Returns claimed | taken | pushed. O(log n).
verbs.register('claim_start', { 'crawl', 'live-node' }, function(crawl, args)
  if meta.get(crawl, args.start) == 'pushed' then return 'pushed' end
  local owner = meta.get(crawl, 'start_owner')
  if owner and owner ~= crawl.caller and nodes.isLive(crawl, owner) then return 'taken' end
  meta.set(crawl, 'start_owner', crawl.caller)
  return 'claimed'
end)
