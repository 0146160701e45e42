-- Record that a feed file is not as the crawl has left it, until its writer finds it sound again, or somebody accepts it.
-- Atomic: of two nodes that find different losses, the greater one stays.
--
-- args: feed · what: follows the path in a sentence · items: how many that the store has no more are gone
-- Returns 1, or 0 when nothing is known of the feed. O(1).
verbs.register('feed_changed', { 'allow-oom' }, function(crawl, args)
  local writer = feeds.read(crawl, args.feed)
  if not writer then return 0 end
  if not writer.changed or writer.changed.items < args.items then
    writer.changed = { what = args.what, items = args.items }
    feeds.write(crawl, args.feed, writer)
  end
  return 1
end)
