-- The limit of pages per domain: HASH domain-accepted, domain → requests accepted since the crawl began or last finished. Only
-- kept while meta.pages_per_domain sets a limit; 0 or nothing is none.

-- The counts of these domains; nil without a limit.
function pageQuota.open(crawl, names)
  local most = meta.number(crawl, 'pages_per_domain')
  if most == 0 then return nil end
  local counts = {}
  for i, count in ipairs(lists.read('HMGET', crawl.keys['domain-accepted'], names)) do counts[names[i]] = reader.number(count) or 0 end
  return { most = most, counts = counts, taken = {} }
end

function pageQuota.isUsedUp(quota, domain) return quota.counts[domain] >= quota.most end

function pageQuota.take(quota, domain)
  quota.counts[domain] = quota.counts[domain] + 1
  quota.taken[domain] = true
end

function pageQuota.save(crawl, quota)
  local fields = {}
  for domain in pairs(quota.taken) do lists.pair(fields, domain, lists.digits(quota.counts[domain])) end
  lists.send('HSET', crawl.keys['domain-accepted'], fields)
end

-- Counting begins again after a crawl that has finished.
function pageQuota.forget(crawl) redis.call('UNLINK', crawl.keys['domain-accepted']) end
