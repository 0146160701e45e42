-- Invalidate the nodes' caches of seen links, since a fingerprint was forgotten in another partition.
--
-- Returns OK. O(1).
verbs.register('raise_epoch', { 'allow-oom' }, function(crawl)
  if not meta.exists(crawl) then return redis.status_reply('OK') end
  meta.read(crawl)
  meta.raiseEpoch(crawl)
  verbs.save(crawl)
  return redis.status_reply('OK')
end)
