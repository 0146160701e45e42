-- Register the one writer of a feed file. Atomic: of two writers that start at once, one gets it.
--
-- args: feed · writer: JSON { host, path, pid, owner, format } · staleMs: a writer that gave no sign for
--   this long may be replaced · displaced: an owner to replace at once, or '' · anew: forget the checkpoint, unless items
--   wait or an export has not ended · overwrites: a flush of the crawl may begin the file anew until this writer writes
-- Returns JSON of status: damaged: what is recorded of it is gone or contradicts itself · held, with writer · format, with format: in which it is written so far · open, with checkpoint:
-- sequence, lengthBytes, header, end, and isGivenUp where somebody has accepted that the file has lost items, if any. O(1).
verbs.register('feed_open', {}, function(crawl, args)
  clock.read(crawl)
  local feed, wanted = args.feed, cjson.decode(args.writer)
  local writer = feeds.read(crawl, feed)
  if feeds.hasLost(crawl, feed, writer) then return cjson.encode({ status = 'damaged' }) end
  feeds.mendTail(crawl, feed)
  if writer and (writer.sequence or 0) > feeds.tail(crawl, feed) then return cjson.encode({ status = 'damaged' }) end
  local isOthers = writer and writer.owner and writer.owner ~= wanted.owner
  if isOthers and writer.owner ~= args.displaced and crawl.nowMs - writer.seenMs < args.staleMs then
    return cjson.encode({ status = 'held', writer = writer })
  end
  local allWritten = writer and feeds.isAllWritten(crawl, feed, writer)
  local wasForgotten = allWritten and feeds.isForgotten(crawl, feed, writer) and writer.owner ~= wanted.owner
  if allWritten and not writer.exporting and (args.anew or wasForgotten) then
    redis.call('HDEL', crawl.keys.feeds, feed .. ':tail')
    writer = nil
  end
  if writer and writer.sequence and writer.format and wanted.format and writer.format ~= wanted.format then
    return cjson.encode({ status = 'format', format = writer.format })
  end
  for _, name in ipairs({ 'forgottenAt', 'sequence', 'lengthBytes', 'header', 'end', 'exporting', 'changed' }) do
    wanted[name] = writer and writer[name] or nil
  end
  wanted.seenMs, wanted.staleMs = crawl.nowMs, args.staleMs
  wanted.overwrites = args.overwrites and wanted.sequence or nil
  feeds.write(crawl, feed, wanted)
  local checkpoint = { sequence = wanted.sequence, lengthBytes = wanted.lengthBytes or 0, header = wanted.header or '',
    ['end'] = wanted['end'], isGivenUp = wanted.changed and wanted.changed.accepted }
  return cjson.encode({ status = 'open', checkpoint = wanted.sequence and checkpoint })
end)
