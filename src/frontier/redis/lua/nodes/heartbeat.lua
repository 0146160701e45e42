-- A node's sign of life, with what it reports of itself. Sent by the heartbeat thread on its own connection.
--
-- args: incarnation · pagesPerSecond
-- Returns alive | dead | gone. O(log n).
verbs.register('heartbeat', { 'allow-oom' }, function(crawl, args)
  if not meta.exists(crawl) then return 'gone' end
  if not nodes.isLive(crawl, args.incarnation) then return 'dead' end
  clock.read(crawl)
  redis.call('ZADD', crawl.keys.nodes, crawl.nowMs, args.incarnation)
  local info = nodes.info(crawl, args.incarnation)
  info.pagesPerSecond = args.pagesPerSecond
  redis.call('HSET', crawl.keys['node-info'], args.incarnation, cjson.encode(info))
  return 'alive'
end)
