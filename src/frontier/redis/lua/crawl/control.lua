-- Pause, resume or stop the crawl for every node, or close its run with a reason; the first reason stays.
-- While a repair has not ended the queues are incomplete: the crawl stays paused, and the order holds from the end of the repair.
--
-- args: control (running | paused | stopping), by: who gives the order, absent where they do not say; or closing: a reason, with limit: of the budget that was used up, absent
--   for none
-- O(1).
local EVENTS = { running = 'resumed', paused = 'paused', stopping = 'stopping' }

verbs.register('control', { 'allow-oom', 'crawl' }, function(crawl, args)
  if args.control then
    local name = meta.get(crawl, 'repairing') and 'repairing' or 'control'
    if meta.get(crawl, name) ~= args.control then events.add(crawl, EVENTS[args.control], { by = args.by or cjson.null }) end
    meta.set(crawl, name, args.control)
  end
  if args.closing then budgets.close(crawl, args.closing, args.limit or 0) end
end)
