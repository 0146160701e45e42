-- Forgetting a crawl: what waits, what failed, what was seen, and who worked on it. Seeds, items, counters and feeds with
-- items that wait stay.

local QUEUE = { 'requests', 'meta', 'queue', 'domains', 'ready', 'waiting', 'delayed', 'suspects', 'leases', 'nodes',
  'dead', 'node-info', 'held', 'pages', 'crashes', 'answers', 'repaired' }

-- The requests and all that serves them, but not which of them failed, and why.
function forgetting.forgetQueue(crawl)
  for _, word in ipairs(QUEUE) do redis.call('UNLINK', crawl.keys[word]) end
  -- Nothing of what this call has read is there any more.
  crawl.meta, crawl.changedMeta, crawl.newMembers = {}, {}, {}
  crawl.domains, crawl.dirtyDomains, crawl.reclassifyDomains = {}, {}, {}
end

function forgetting.forget(crawl, isFlush)
  forgetting.forgetQueue(crawl)
  redis.call('UNLINK', crawl.keys.failed, crawl.keys.failures)
  dupefilters.drop(crawl)
  crawl.index, crawl.slices = nil, nil
  feeds.forget(crawl, isFlush)
end
