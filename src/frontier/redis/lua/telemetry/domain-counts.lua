-- What nodes have reported of each domain: HASH `domain-stats`, name → MessagePack of amounts by name
-- (src/frontier/telemetry/domain-counts.ts), and ZSET `domain-recent`, instant of the last report → name.

-- The counts of these domains, in order; none for one that is not known, or cannot be read.
function domainCounts.read(crawl, names)
  local found = lists.read('HMGET', crawl.keys['domain-stats'], names)
  for i = 1, #found do found[i] = found[i] and reader.map(found[i]) or {} end
  return found
end

local function addTo(counts, amounts)
  local room = limits.MAX_DOMAIN_COUNTS
  for _ in pairs(counts) do room = room - 1 end
  for name, amount in pairs(amounts) do
    local before = counts[name]
    if type(before) == 'number' then
      counts[name] = before + amount
    elseif room > 0 then
      counts[name], room = amount, room - 1
    end
  end
end

-- Forgets the domains that were reported longest ago, beyond those that are kept.
local function forgetOldest(crawl)
  local over = redis.call('ZCARD', crawl.keys['domain-recent']) - limits.MAX_KNOWN_DOMAINS
  if over <= 0 then return end
  local gone, popped = {}, redis.call('ZPOPMIN', crawl.keys['domain-recent'], lists.digits(math.min(over, 1000)))
  for i = 1, #popped, 2 do gone[#gone + 1] = popped[i] end
  lists.send('HDEL', crawl.keys['domain-stats'], gone)
end

-- Adds { name, amounts by name, … } to what is known.
function domainCounts.add(crawl, reported)
  local names, packed, recent, now = {}, {}, {}, lists.digits(crawl.nowMs)
  for i = 1, #reported, 2 do names[#names + 1] = reported[i] end
  for i, counts in ipairs(domainCounts.read(crawl, names)) do
    addTo(counts, reported[2 * i])
    lists.pair(packed, names[i], cmsgpack.pack(counts))
    lists.pair(recent, now, names[i])
  end
  lists.send('HSET', crawl.keys['domain-stats'], packed)
  lists.send('ZADD', crawl.keys['domain-recent'], recent)
  forgetOldest(crawl)
end
