-- Items of a feed on their way from the outbox of their partition to that of partition 0, from where the one writer of the
-- feed takes them. Partition 0 records with the items how far they go. Only then are they deleted in their partition (feeds/feed-checkpoint.lua).
--
-- Appends items of another partition. O(items).
-- args: feed · owner · from: partition · crawl: its crawl · after: number of the item before the first · items
-- Returns how far the items of that partition are here, or -1 when the feed has another owner.
verbs.register('feed_move_in', {}, function(crawl, args)
  local writer = feeds.read(crawl, args.feed)
  if not writer or writer.owner ~= args.owner then return -1 end
  writer.moved = type(writer.moved) == 'table' and writer.moved or {}
  local known, fresh = writer.moved[args.from], {}
  -- Another crawl has numbered its items from 1 again.
  local done = known and known[1] == args.crawl and known[2] or 0
  for i, item in ipairs(args.items) do
    if args.after + i > done then fresh[#fresh + 1] = item end
  end
  feeds.append(crawl, { args.feed }, fresh)
  local reached = math.max(done, args.after + #args.items)
  writer.moved[args.from] = { args.crawl, reached }
  feeds.write(crawl, args.feed, writer)
  return reached
end)
