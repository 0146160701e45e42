-- What dupefilters of expiring fingerprints share: a ZSET fingerprint (20 raw bytes) → the instant it is forgotten, +inf for
-- never.

local function isSeen(crawl, score) return (score and tonumber(score) > crawl.nowMs) and 1 or 0 end

local function rememberUntil(crawl, instant, marks)
  local entries = {}
  for _, mark in ipairs(marks) do lists.pair(entries, instant, mark) end
  return lists.send('ZADD', crawl.keys.dupefilter, entries)
end

-- A class of dupefilter. expiresAt(crawl): the instant in ms at which a fingerprint that is accepted now is forgotten; nil
-- for never.
function expiring.class(expiresAt)
  local class = {}

  function class.seen(crawl, marks)
    local flags = lists.read('ZMSCORE', crawl.keys.dupefilter, marks)
    for i = 1, #marks do flags[i] = isSeen(crawl, flags[i]) end
    return flags
  end

  -- A fingerprint that is accepted again gets a new expiry. One that is only met again does not: otherwise a page that is
  -- linked from everywhere would never be fetched again.
  function class.record(crawl, marks)
    if #marks == 0 then return 0 end
    local key, latest = crawl.keys.dupefilter, expiresAt(crawl)
    if not latest then return rememberUntil(crawl, '+inf', marks) end
    local most = math.min(limits.PURGED_AT_ONCE + 2 * #marks, 4000)
    latest = lists.digits(latest)
    local expired = lists.send('ZREM', key, redis.call('ZRANGEBYSCORE', key, '-inf', crawl.nowMs, 'LIMIT', 0, most))
    -- A later expiry means that the server clock went back (a failover): it counts from now.
    rememberUntil(crawl, latest, redis.call('ZRANGEBYSCORE', key, '(' .. latest, '+inf', 'LIMIT', 0, most))
    return rememberUntil(crawl, latest, marks) - expired
  end

  function class.forget(crawl, mark)
    local was = isSeen(crawl, redis.call('ZSCORE', crawl.keys.dupefilter, mark))
    return was, redis.call('ZREM', crawl.keys.dupefilter, mark)
  end

  function class.markOf(id) return id end

  function class.count(crawl)
    return redis.call('ZCOUNT', crawl.keys.dupefilter, '(' .. lists.digits(crawl.nowMs), '+inf')
  end

  function class.size(crawl) return redis.call('ZCARD', crawl.keys.dupefilter) end

  -- Of two instants the later one stays. None is later than that of a fingerprint recorded now, since the backup may be of a
  -- class or of settings that remember for longer.
  function class.restore(crawl, marks, untils)
    local latest = expiresAt(crawl)
    if not (untils and latest) then return class.record(crawl, marks) end
    local added = 0
    for i, mark in ipairs(marks) do
      local instant = lists.digits(math.min(tonumber(untils[i]), latest))
      added = added + redis.call('ZADD', crawl.keys.dupefilter, 'GT', instant, mark)
    end
    return added
  end

  return class
end
