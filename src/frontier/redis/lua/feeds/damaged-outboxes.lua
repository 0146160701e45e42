-- Outboxes that do not agree with the records of their feeds: naming them for doctor, and mending them.

-- How many items wait for a feed by its record, which is nil where it is gone.
local function said(crawl, feed)
  local writer = feeds.read(crawl, feed)
  if feeds.hasLost(crawl, feed, writer) then return nil end
  return feeds.tail(crawl, feed) - (writer and writer.sequence or 0)
end

-- The numbers of the items in the outbox, by feed. O(outbox).
local function numbersByFeed(crawl)
  local found = {}
  for _, field in ipairs(redis.call('HKEYS', crawl.keys.outbox)) do
    local feed, number = string.match(field, '^(.*):(%d+)$')
    if feed then
      found[feed] = found[feed] or {}
      table.insert(found[feed], tonumber(number))
    end
  end
  return found
end

-- { feed, items, said } of each feed (FeedView in src/frontier/care/care-store.ts); only of those without a record where all
-- others agree with the size of the outbox.
function damagedOutboxes.views(crawl)
  local names, waiting, views = {}, 0, {}
  for _, field in ipairs(redis.call('HKEYS', crawl.keys.feeds)) do names[string.gsub(field, ':tail$', '')] = true end
  for _, field in ipairs(redis.call('HKEYS', crawl.keys.meta)) do
    if string.sub(field, 1, 5) == feeds.mark('') then names[string.sub(field, 6)] = true end
  end
  for feed in pairs(names) do
    local count = said(crawl, feed)
    waiting = waiting + ((not count or count < 0) and math.huge or count)
  end
  if waiting == redis.call('HLEN', crawl.keys.outbox) then return views end
  local numbers = numbersByFeed(crawl)
  for feed in pairs(numbers) do names[feed] = true end
  for feed in pairs(names) do
    -- Items of a feed that nobody knows have a record that is gone.
    local isKnown = redis.call('HEXISTS', crawl.keys.feeds, feed) + redis.call('HEXISTS', crawl.keys.feeds, feed .. ':tail') > 0
    views[#views + 1] = { feed = feed, items = #(numbers[feed] or {}), said = isKnown and said(crawl, feed) or nil }
  end
  return views
end

local function numberAnew(crawl, view, numbers)
  local at, feed, old, new = crawl.keys, view.feed, {}, {}
  local writer = feeds.read(crawl, feed)
  local written = math.max(0, writer and writer.sequence or 0)
  table.sort(numbers)
  for i, number in ipairs(numbers) do old[i] = feeds.field(feed, number) end
  for i, text in ipairs(lists.read('HMGET', at.outbox, old)) do lists.pair(new, feeds.field(feed, written + i), text) end
  lists.send('HDEL', at.outbox, old)
  lists.send('HSET', at.outbox, new)
  if not view.said then feeds.drop(crawl, feed) end
  if #numbers > 0 or writer then redis.call('HSET', at.feeds, feed .. ':tail', lists.digits(written + #numbers)) end
end

-- Numbers the items of a damaged outbox anew behind what is written. Returns the views that were wrong, and what to count as
-- lost: items, and 1 for each record.
function damagedOutboxes.mend(crawl)
  local numbers, wrong, lost = nil, {}, 0
  for _, view in ipairs(damagedOutboxes.views(crawl)) do
    if view.said ~= view.items then
      numbers = numbers or numbersByFeed(crawl)
      wrong[#wrong + 1] = view
      lost = lost + (view.said and math.max(0, view.said - view.items) or 1)
      numberAnew(crawl, view, numbers[view.feed] or {})
    end
  end
  return wrong, lost
end
