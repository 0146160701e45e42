-- The crawl's counters (HASH `stats`): summed up during a call and written once each.

function counters.add(crawl, name, amount)
  crawl.counters[name] = (crawl.counters[name] or 0) + amount
end

-- The counters as they are now, as JSON of texts. Stats of the user's own code, which have a prefix, are left out.
function counters.asJson(crawl)
  local now = {}
  if keys.isOf('hash', crawl.keys.stats) then
    local fields = redis.call('HGETALL', crawl.keys.stats)
    for i = 1, #fields, 2 do
      if string.sub(fields[i], 1, 7) ~= 'custom/' then now[fields[i]] = fields[i + 1] end
    end
  end
  return cjson.encode(now)
end

-- A counter that somebody overwrote with text must not keep a page from being committed.
function counters.save(crawl)
  for name, amount in pairs(crawl.counters) do
    if amount ~= 0 then redis.pcall('HINCRBY', crawl.keys.stats, name, lists.digits(amount)) end
  end
  crawl.counters = {}
end
