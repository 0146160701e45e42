-- Changes that one partition makes on behalf of others.

-- Commit changes of cookies of a page in another partition, which is settled afterwards. A change that comes again has no
-- effect. O(cookies).
-- args: cookies (cookies/cookies.lua) · maxJars
-- Returns the version of the cookies.
verbs.register('merge_cookies', {}, function(crawl, args)
  meta.read(crawl)
  cookies.merge(crawl, args)
  cookies.save(crawl)
  verbs.save(crawl)
  return meta.number(crawl, 'cookies')
end)

-- Invalidate the nodes' caches of seen links, since a fingerprint was forgotten in another partition. O(1).
verbs.register('raise_epoch', { 'allow-oom' }, function(crawl)
  if not meta.exists(crawl) then return redis.status_reply('OK') end
  meta.read(crawl)
  meta.raiseEpoch(crawl)
  verbs.save(crawl)
  return redis.status_reply('OK')
end)

-- Make the record of a partition before the first push to any of them, so that all agree on their number and on the
-- dupefilter. O(1).
-- args: queueClass · epoch: for a new meta
-- Returns the id of the crawl.
verbs.register('found_crawl', {}, function(crawl, args)
  meta.create(crawl, args.queueClass, args.epoch)
  meta.read(crawl)
  acceptance.check(crawl)
  dupefilters.agree(crawl)
  verbs.save(crawl)
  return meta.get(crawl, 'crawl')
end)

-- Clear a partition whose partition 0 was cleared, as its crawl was complete. What has come in since is kept. O(1).
-- Returns 1 when it was cleared.
verbs.register('clear_complete', { 'allow-oom' }, function(crawl)
  if not meta.exists(crawl) then return 1 end
  meta.read(crawl)
  if completion.isBusy(crawl) or redis.call('ZCARD', crawl.keys.nodes) > 0 then return 0 end
  wipe.crawl(crawl, false)
  return 1
end)
