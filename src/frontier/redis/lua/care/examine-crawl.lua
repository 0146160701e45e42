-- The counters of a crawl and the sizes of its keys, all at one instant, and what only keys in Redis may have: scores and times
-- to live.

-- So many failed requests are looked at singly.
local FEW_FAILED = 1000

-- A counter of meta; 0 for one that somebody overwrote with text.
local function counter(crawl, name, found)
  local text = meta.get(crawl, name) or '0'
  if not tonumber(text) then examine.breach(found, 'I4: the number %s of the crawl is "%s"', name, text) end
  return tonumber(text) or 0
end

-- What a walk through all records sees exactly. Failed requests may have no record: of many it is not known which.
local function countRecords(crawl, found)
  local at, failed = crawl.keys, redis.call('ZCARD', crawl.keys.failed)
  local without = failed
  if failed <= FEW_FAILED then
    for _, id in ipairs(redis.call('ZRANGE', at.failed, 0, -1)) do without = without - redis.call('HEXISTS', at.requests, id) end
  end
  local records, most = redis.call('HLEN', at.requests), losses.found(crawl)
  local least = most - without
  if failed <= FEW_FAILED then most = least end
  -- A rebuild leaves what is no record.
  most = most + meta.number(crawl, 'stall_left')
  if records > most then examine.breach(found, 'I1: %d records are of requests in no queue', records - most) end
  if records < least then examine.breach(found, 'I1: at least %d requests have no record', least - records) end
end

-- found.totals: JSON of Totals (care-store.ts).
function examine.meta(crawl, _, found)
  local at, all = crawl.keys, {}
  -- They are ordered by bytes. An entry with a score other than 0 would be in the wrong place.
  for _, key in ipairs({ at.queue, at.ready }) do
    local count = redis.call('ZCOUNT', key, '-inf', '(0') + redis.call('ZCOUNT', key, '(0', '+inf')
    if count > 0 then examine.breach(found, 'I7: %d entries of %s have a score, and are out of order', count, key) end
  end
  local missing = meta.exists(crawl) and meta.missing(crawl) or 0
  if missing > 0 then examine.breach(found, 'I4: %d fields of %s are gone', missing, at.meta) end
  local sets = redis.call('HLEN', at.cookies) - redis.call('ZCARD', at.jars)
  if redis.call('EXISTS', at.cookies) ~= redis.call('EXISTS', at.jars) or sets > redis.call('ZCARD', at['cookie-versions']) then
    examine.breach(found, 'I4: the keys of the cookies contradict each other: some were deleted')
  end
  if meta.get(crawl, 'restoring') then examine.breach(found, 'a backup was brought back only in part') end
  if crawl.args.counted then countRecords(crawl, found) end
  found.totals = cjson.encode({
    pending = queue.pending(crawl), delayed = redis.call('ZCARD', at.delayed), leased = redis.call('HLEN', at.leases),
    failed = redis.call('ZCARD', at.failed), done = counter(crawl, 'done', found), removed = counter(crawl, 'removed', found),
    lost = counter(crawl, 'lost', found), accepted = counter(crawl, 'accepted', found),
    isRepairing = meta.get(crawl, 'repairing') and true or false, stored = {},
    isRebuilding = stall.isRebuilding(crawl) and nodes.isLive(crawl, meta.get(crawl, 'stall_owner')) and true or false,
  })
  for _, key in pairs(at) do all[#all + 1] = key end
  for _, startUrls in ipairs(crawl.startUrls) do lists.append(all, { startUrls.key, startUrls.bad }) end
  table.sort(all)
  for _, key in ipairs(all) do
    if redis.call('PTTL', key) >= 0 then
      examine.breach(found, 'I8: %s has a time to live: it would vanish by itself', key)
    end
  end
end

-- Each known robots.txt has an instant from which on it is deleted.
examine['robots-kept'] = function(crawl, page, found)
  local isSound = redis.call('HLEN', crawl.keys.robots) == redis.call('ZCARD', crawl.keys['robots-kept'])
  for i = 1, #page, 2 do isSound = isSound and redis.call('HEXISTS', crawl.keys.robots, page[i]) == 1 end
  if not isSound then examine.breach(found, 'the robots.txt of some origins is never deleted') end
end
