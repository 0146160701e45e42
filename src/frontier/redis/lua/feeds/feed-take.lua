-- Move the first items of the items list to the end of a feed's outbox, for its writer to put into a file.
-- Atomic: an item is in the list or in the outbox, never in both and never in neither. From here on an export has begun,
-- until its writer releases the feed as exported: nobody begins the file anew in between.
--
-- args: feed · owner · most: at most so many
-- Returns how many, or -1 when the feed has another owner by now, or was forgotten. O(items moved).
-- It may go on when memory is full: exporting is how a full store gets room again.
verbs.register('feed_take', { 'allow-oom', 'once' }, function(crawl, args)
  local writer = feeds.read(crawl, args.feed)
  if not writer or writer.owner ~= args.owner then return -1 end
  keys.refuseForeign(crawl.KEYS)
  local items = args.most > 0 and redis.call('LRANGE', crawl.keys.items, 0, args.most - 1) or {}
  feeds.append(crawl, { args.feed }, items)
  if #items > 0 then redis.call('LTRIM', crawl.keys.items, #items, -1) end
  clock.read(crawl)
  writer.exporting, writer.seenMs = true, crawl.nowMs
  feeds.write(crawl, args.feed, writer)
  return #items
end)
