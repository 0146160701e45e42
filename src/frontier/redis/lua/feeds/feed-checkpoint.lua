-- Record how far a feed file is safely on disk, and delete those items from the outbox. Also renews the writer's claim.
-- Atomic: an item leaves the outbox only with the checkpoint that covers it.
--
-- args: feed · owner · sequence, lengthBytes, header, end: the checkpoint, absent to only renew · after: sequence of the one
--   before it, absent where that does not matter · digest: SHA-1 of the items between the two, joined by \n, absent for
--   none · unreadable: how many of them are no items, absent for 0 · release: ends the claim · exported: ends the export too
-- Returns 1, 0 when the feed has another owner by now, or 2 when the store knows another checkpoint than the one before:
-- it was restored from an older copy, or a flush forgot the file. It returns 2 also for other items: after a failover the
-- sequences of the lost items are given again. 3 when somebody has deleted the record of the feed. O(items covered, their bytes).

local function digestOf(crawl, fields)
  local texts = {}
  for _, text in ipairs(lists.read('HMGET', crawl.keys.outbox, fields)) do texts[#texts + 1] = text or '' end
  return redis.sha1hex(table.concat(texts, '\n'))
end

verbs.register('feed_checkpoint', { 'allow-oom' }, function(crawl, args)
  local feed, writer = args.feed, feeds.read(crawl, args.feed)
  if feeds.hasLost(crawl, feed, writer) then return 3 end
  -- A reset deleted this feed: there is nothing to record. Where another hand deletes all of it, its mark in meta is left.
  if not writer and redis.call('HEXISTS', crawl.keys.feeds, feed .. ':tail') == 0 then return 1 end
  if not writer or writer.owner ~= args.owner then return 0 end
  local written = writer.sequence or 0
  if args.after and written ~= args.after and written ~= args.sequence then return 2 end
  if args.sequence then
    local dropped = {}
    for number = written + 1, args.sequence do dropped[#dropped + 1] = feeds.field(feed, number) end
    if args.digest and #dropped > 0 and digestOf(crawl, dropped) ~= args.digest then return 2 end
    lists.send('HDEL', crawl.keys.outbox, dropped)
    -- As requests are, until somebody accepts that. A checkpoint that comes again has dropped nothing.
    if #dropped > 0 and (args.unreadable or 0) > 0 and not writer.exporting and meta.exists(crawl) then
      meta.add(crawl, 'lost', args.unreadable)
      meta.add(crawl, 'accepted', args.unreadable)
      meta.save(crawl)
    end
    writer.sequence, writer.lengthBytes, writer.header, writer['end'] = args.sequence, args.lengthBytes, args.header, args['end']
    -- Its writer has found the file sound.
    writer.changed = nil
  end
  clock.read(crawl)
  writer.seenMs = crawl.nowMs
  if args.release then
    writer.owner = nil
    if not meta.exists(crawl) or completion.isFinished(crawl, completion.seedsWaiting(crawl)) then writer.seenMs = 0 end
  end
  if args.exported then writer.exporting = nil end
  if args.release and feeds.isForgotten(crawl, feed, writer) then
    feeds.drop(crawl, feed)
  else
    feeds.write(crawl, feed, writer)
    if args.sequence and meta.exists(crawl) then meta.write(crawl, { feeds.mark(feed), '1' }) end
  end
  return 1
end)
