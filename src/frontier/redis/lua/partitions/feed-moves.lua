-- Items of a feed on their way from the outbox of their partition to that of partition 0, from where the one writer of the
-- feed takes them. Partition 0 records with the items how far they go. Only then are they deleted in their partition.

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

-- Deletes items that partition 0 has. O(items).
-- args: feed · sequence: number of the last of them
verbs.register('feed_moved', { 'allow-oom' }, function(crawl, args)
  local feed, record = args.feed, feeds.read(crawl, args.feed) or { host = '', path = '', pid = 0 }
  local dropped, last = {}, math.min(args.sequence, feeds.tail(crawl, feed))
  for number = (record.sequence or 0) + 1, last do dropped[#dropped + 1] = feeds.field(feed, number) end
  if #dropped > 0 then
    lists.send('HDEL', crawl.keys.outbox, dropped)
    record.sequence, record.seenMs = last, crawl.nowMs
    if feeds.isForgotten(crawl, feed, record) then
      redis.call('HDEL', crawl.keys.feeds, feed, feed .. ':tail')
    else
      feeds.write(crawl, feed, record)
    end
  end
  return redis.status_reply('OK')
end)
