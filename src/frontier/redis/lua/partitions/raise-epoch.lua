-- Invalidate the nodes' caches of seen links, since a fingerprint was forgotten in another partition.
--
-- O(1).
verbs.register('raise_epoch', { 'allow-oom', 'crawl-if-any' }, function(crawl) meta.raiseEpoch(crawl) end)
