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

-- Whether the first and the last of the items that wait by a record are there.
local function hasEnds(crawl, feed, count)
  local last = feeds.tail(crawl, feed)
  for _, number in ipairs(count > 0 and { last - count + 1, last } or {}) do
    if redis.call('HEXISTS', crawl.keys.outbox, feeds.field(feed, number)) == 0 then return false end
  end
  return true
end

-- How many of these numbers are of items that wait by the record.
local function fitting(crawl, feed, count, numbers)
  local last, fits = feeds.tail(crawl, feed), 0
  for _, number in ipairs(numbers) do
    if number > last - count and number <= last then fits = fits + 1 end
  end
  return fits
end

-- { feed, items, fits, said } of each feed (FeedView in src/frontier/care/care-store.ts); only of those without a record where all
-- others agree with the size of the outbox.
function damagedOutboxes.views(crawl)
  local names, waiting, views = {}, 0, {}
  for _, field in ipairs(redis.call('HKEYS', crawl.keys.feeds)) do names[string.gsub(field, ':tail$', '')] = true end
  for _, field in ipairs(redis.call('HKEYS', crawl.keys.meta)) do
    if string.sub(field, 1, 5) == feeds.mark('') then names[string.sub(field, 6)] = true end
  end
  for feed in pairs(names) do
    local count = said(crawl, feed)
    waiting = waiting + ((not count or count < 0 or not hasEnds(crawl, feed, count)) and math.huge or count)
  end
  if waiting == redis.call('HLEN', crawl.keys.outbox) then return views end
  local numbers = numbersByFeed(crawl)
  for feed in pairs(numbers) do names[feed] = true end
  for feed in pairs(names) do
    -- Items of a feed that nobody knows have a record that is gone.
    local isKnown = redis.call('HEXISTS', crawl.keys.feeds, feed) + redis.call('HEXISTS', crawl.keys.feeds, feed .. ':tail') > 0
    local count, found = isKnown and said(crawl, feed) or nil, numbers[feed] or {}
    views[#views + 1] = { feed = feed, items = #found, fits = fitting(crawl, feed, count or 0, found), said = count }
  end
  return views
end

local function numberAnew(crawl, view, numbers)
  local at, feed, old, new = crawl.keys, view.feed, {}, {}
  local writer = feeds.read(crawl, feed)
  local written = math.max(0, writer and writer.sequence or 0)
  table.sort(numbers)
  for i, number in ipairs(numbers) do old[i] = feeds.field(feed, number) end
  local texts, kept = lists.read('HMGET', at.outbox, old), 0
  for i, number in ipairs(numbers) do
    -- The file has those up to the checkpoint: they came back with an older copy. A checkpoint behind the last item proves nothing.
    if not view.said or view.said < 0 or number > written then
      kept = kept + 1
      lists.pair(new, feeds.field(feed, written + kept), texts[i])
    end
  end
  lists.send('HDEL', at.outbox, old)
  lists.send('HSET', at.outbox, new)
  if not view.said then feeds.drop(crawl, feed) end
  if kept > 0 or writer then redis.call('HSET', at.feeds, feed .. ':tail', lists.digits(written + kept)) end
end

-- Numbers the items of a damaged outbox anew behind what is written. Returns the views that were wrong, and what to count as
-- lost: items, and 1 for each record.
function damagedOutboxes.mend(crawl)
  local numbers, wrong, lost = nil, {}, 0
  for _, view in ipairs(damagedOutboxes.views(crawl)) do
    if view.said ~= view.items or view.fits ~= view.items then
      numbers = numbers or numbersByFeed(crawl)
      wrong[#wrong + 1] = view
      lost = lost + (view.said and math.max(0, view.said - view.fits) or 1)
      numberAnew(crawl, view, numbers[view.feed] or {})
    end
  end
  return wrong, lost
end
