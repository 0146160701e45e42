-- Deletes the requests, the failed list, the fingerprints, the cookies and the nodes of a crawl. Seeds, items, counters and feeds with
-- waiting items stay.

local QUEUE = { 'requests', 'meta', 'queue', 'domains', 'ready', 'waiting', 'delayed', 'suspects', 'leases', 'nodes',
  'dead', 'node-info', 'held', 'settled', 'crashes', 'answers', 'robots', 'robots-kept', 'cookies', 'cookie-versions', 'jars',
  'validators', 'domain-accepted', 'ignored' }

-- Deletes the requests, their indexes and the cookies, but not the failed list.
function wipe.queue(crawl)
  earlyLinks.drop(crawl)
  for _, word in ipairs(QUEUE) do redis.call('UNLINK', crawl.keys[word]) end
  -- What this call has read no longer exists.
  crawl.meta, crawl.metaNumbers, crawl.changedMeta, crawl.newMembers = {}, {}, {}, {}
  crawl.domains, crawl.dirtyDomains, crawl.reclassifyDomains = {}, {}, {}
end

-- Deletes all that, and begins the record anew with some of its fields and a higher epoch.
function wipe.renew(crawl, isFlush, names)
  local fields = { version = FORMAT }
  meta.raiseEpoch(crawl)
  for _, name in ipairs(names) do fields[name] = meta.get(crawl, name) or '' end
  feeds.acceptChanges(crawl)
  wipe.crawl(crawl, isFlush)
  for name, value in pairs(fields) do meta.set(crawl, name, value) end
end

function wipe.crawl(crawl, isFlush)
  wipe.queue(crawl)
  redis.call('UNLINK', crawl.keys.failed, crawl.keys.failures)
  dupefilters.drop(crawl)
  crawl.index, crawl.slices = nil, nil
  feeds.forget(crawl, isFlush)
end
