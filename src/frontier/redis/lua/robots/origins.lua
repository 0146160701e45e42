-- What is known of the robots.txt of each origin. robots-state.ts has the states.
--
-- A record (HASH `robots`) is MessagePack, a map. Without a record nothing is known.
--   state        claimed | rules | waiting: for another fetch | unreachable
--   text         rules: of the robots.txt; unreachable: why
--   reason       unreachable: of the last attempt, such as dns_not_found
--   untilMs      rules, unreachable: valid until; waiting: not fetched before
--   node, call   the last claim: its incarnation, and the number of the call that made it
--   claimedMs    instant of that claim
--   url, hops    where a fetch goes on after redirects, and how many there were; absent at the start
--   failures     fetches in a row that failed
--   delayMs      Crawl-delay of the last rules, 0 for none
--   restMs       until when the domain rests because of this record; absent when it does not
local SWEPT = 10
-- The states that have a text.
local TEXTS = { rules = true, unreachable = true }

local TYPES = { state = 'string', text = 'string', reason = 'string', untilMs = 'number', node = 'string', call = 'number',
  claimedMs = 'number', url = 'string', hops = 'number', failures = 'number', delayMs = 'number', restMs = 'number' }

-- The record of an origin, nil where nothing is known, and where it cannot be read.
function origins.read(crawl, origin)
  local packed = redis.call('HGET', crawl.keys.robots, origin)
  if not packed then return nil end
  local record = reader.map(packed)
  local isClaim = record and record.node and record.call and record.claimedMs
  if isClaim and reader.hasFields(record, TYPES) and (record.text or not TEXTS[record.state]) then return record end
  reader.noteUnreadable(crawl, 1)
end

-- Writes a record, and deletes a few that are not needed any more. A Crawl-delay is remembered for a day beyond its rules.
function origins.write(crawl, origin, record)
  local at, gone = crawl.keys, {}
  redis.call('HSET', at.robots, origin, cmsgpack.pack(record))
  redis.call('ZADD', at['robots-kept'], math.max(crawl.nowMs, record.untilMs or 0) + limits.MAX_ROBOTS_MS, origin)
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', at['robots-kept'], '-inf', lists.digits(crawl.nowMs), 'LIMIT', '0', SWEPT)) do
    if old ~= origin then gone[#gone + 1] = old end
  end
  lists.send('HDEL', at.robots, gone)
  lists.send('ZREM', at['robots-kept'], gone)
end

-- For how long a record is still valid; 0 when it is not. An instant more than a day ahead comes from a server clock that
-- jumped (a failover): it counts for nothing.
function origins.validFor(crawl, record)
  local forMs = (record.untilMs or 0) - crawl.nowMs
  return forMs <= limits.MAX_ROBOTS_MS and math.max(0, forMs) or 0
end

-- Leaves the domain of a request alone that waits for the rules. A longer pause, such as one that the site asked for, stays.
function origins.rest(crawl, domain, record, forMs)
  local d, untilMs = domains.of(crawl, domain), domains.atMostADay(crawl, forMs)
  if d.blockedUntil >= untilMs then return end
  local isOther = d.blockedUntil > crawl.nowMs and d.blockedUntil ~= record.restMs
  d.blockedUntil = untilMs
  record.restMs = not isOther and untilMs or nil
  domains.markChanged(crawl, d)
end

-- Ends the rest of the domain that this record made.
function origins.wake(crawl, domain, record)
  local d = domains.of(crawl, domain)
  if record.restMs and d.blockedUntil == record.restMs then
    d.blockedUntil = 0
    domains.markChanged(crawl, d)
  end
  record.restMs = nil
end
