-- Last step of a repair: counters agree with what is there, no key has a time to live, and the crawl goes on as it was.
--
-- args: none of its own
-- Returns JSON: pending, delayed, failed, cameBack: of the pending those that were done, gone: fingerprints that vanished, feeds: those that were damaged (FeedView). O(failed + outbox).
verbs.register('repair_end', { 'allow-oom', 'crawl' }, function(crawl)
  local at = crawl.keys
  -- Beyond FAILED_LIMIT a failed request has no record, only its reason.
  for _, id in ipairs(redis.call('HKEYS', at.failures)) do
    if not redis.call('ZSCORE', at.failed, id) then redis.call('ZADD', at.failed, crawl.wallUs, id) end
  end
  -- An entry that is never deleted: all are fetched again.
  if redis.call('HLEN', at.robots) ~= redis.call('ZCARD', at['robots-kept']) then
    redis.call('UNLINK', at.robots, at['robots-kept'])
  end
  for _, key in pairs(at) do redis.call('PERSIST', key) end
  for _, startUrls in ipairs(crawl.startUrls) do
    redis.call('PERSIST', startUrls.key)
    redis.call('PERSIST', startUrls.bad)
  end
  local pending, delayed = queue.pending(crawl), redis.call('ZCARD', at.delayed)
  local failed = redis.call('ZCARD', at.failed)
  local counted = pending + delayed + failed + meta.number(crawl, 'done') + meta.number(crawl, 'removed')
  local gone, wrong, items = meta.number(crawl, 'marks_gone'), damagedOutboxes.mend(crawl)
  marks.look(crawl)
  -- What was accepted and is nowhere any more is lost, and what was lost stays so unless it was found again. Nobody can tell what
  -- was lost from what was done where the key of the records was put back as it was earlier.
  local cameBack = meta.number(crawl, 'came_back')
  local foundAgain = cameBack > 0 and 0 or math.max(0, pending + delayed + failed - meta.number(crawl, 'repair_found'))
  local stillLost = meta.number(crawl, 'lost') - foundAgain
  local lost = items + math.max(0, meta.number(crawl, 'accepted') - counted, stillLost)
  meta.set(crawl, 'lost', lost)
  meta.set(crawl, 'accepted', counted + lost)
  local control = meta.get(crawl, 'repairing')
  if control then meta.set(crawl, 'control', control) end
  meta.set(crawl, 'repairing', '')
  meta.set(crawl, 'came_back', '')
  stall.noteRebuilt(crawl)
  return cjson.encode({ pending = pending, delayed = delayed, failed = failed, feeds = wrong, cameBack = cameBack,
    gone = meta.number(crawl, 'marks_gone') - gone })
end)
