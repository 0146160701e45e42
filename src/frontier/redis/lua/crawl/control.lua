-- Pause, resume or stop the crawl for every node, or close its run with a reason; the first reason stays.
-- While a repair has not ended the queues are incomplete: the crawl stays paused, and the order holds from the end of the repair.
--
-- args: control (running | paused | stopping) or closing: a reason, with limit: of the budget that was used up, absent
--   for none
-- O(1).
verbs.register('control', { 'allow-oom', 'crawl' }, function(crawl, args)
  if args.control then meta.set(crawl, meta.get(crawl, 'repairing') and 'repairing' or 'control', args.control) end
  if args.closing then budgets.close(crawl, args.closing, args.limit or 0) end
end)
