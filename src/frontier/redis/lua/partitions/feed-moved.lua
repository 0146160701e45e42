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
