-- Read seeds of a stream, and leave them there. By a verb, since the entries follow the last one that the group of the crawl has read.
--
-- args: key: its number, from 1 · max: entries at most; 0: only count them
-- Returns waiting, and entries: a list of { id, { field, value, … } }. O(max).
verbs.register('peek_stream', { 'no-writes' }, function(crawl, args)
  local key = crawl.startUrls[args.key].key
  keys.refuseOther(key, 'stream')
  if redis.call('EXISTS', key) == 0 then return verbs.named({ waiting = 0 }) end
  local entries = args.max > 0 and seedStream.peek(crawl, key, args.max) or {}
  return verbs.named({ waiting = seedStream.waiting(crawl, key, false), entries = entries })
end)
