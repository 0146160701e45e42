-- Forgetting a crawl: what waits, what failed, what was seen, and who worked on it. Seeds, items and counters stay.
-- uses: feeds dupefilter-clearing

local function forgetCrawl(isFlush)
  call('UNLINK', requests, metaKey, queueKey, chunksKey, domainsKey, readyKey, waitingKey, delayedKey, suspectsKey,
    leasesKey, nodesKey, deadKey, infoKey, heldKey, pagesKey, crashesKey, failedKey, failuresKey, answersKey,
    repairedKey)
  dropDupefilter()
  forgetFeeds(isFlush)
end
