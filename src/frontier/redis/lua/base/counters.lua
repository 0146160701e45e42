-- The crawl's counters (HASH `stats`): summed up during a call and written once each.

function counters.add(crawl, name, amount)
  crawl.counters[name] = (crawl.counters[name] or 0) + amount
end

-- A counter that somebody overwrote with text must not keep a page from being committed.
function counters.save(crawl)
  for name, amount in pairs(crawl.counters) do
    if amount ~= 0 then redis.pcall('HINCRBY', crawl.keys.stats, name, lists.digits(amount)) end
  end
  crawl.counters = {}
end
