-- TimedRFPDupeFilter: a ZSET fingerprint (20 raw bytes) → the instant it is forgotten, +inf for never.
-- args.dupefilter.expireMs: how long a fingerprint is remembered; 0 is for ever.

-- Expired entries that each batch removes: this many, and two for each new one.
local PURGE = 100

local function isSeen(crawl, score) return (score and tonumber(score) > crawl.nowMs) and 1 or 0 end

local function rememberUntil(crawl, instant, marks)
  local entries = {}
  for _, mark in ipairs(marks) do lists.pair(entries, instant, mark) end
  lists.send('ZADD', crawl.keys.dupefilter, entries)
end

dupefilters.TimedRFPDupeFilter = {
  type = 'zset',
  seen = function(crawl, marks)
    local flags = lists.read('ZMSCORE', crawl.keys.dupefilter, marks)
    for i = 1, #marks do flags[i] = isSeen(crawl, flags[i]) end
    return flags
  end,
  -- A fingerprint that is accepted again gets a new expiry. One that is only met again does not: otherwise a page that is
  -- linked from everywhere would never be fetched again.
  record = function(crawl, marks)
    if #marks == 0 then return end
    local key, expireMs = crawl.keys.dupefilter, crawl.args.dupefilter.expireMs
    if expireMs == 0 then return rememberUntil(crawl, '+inf', marks) end
    local latest, most = lists.digits(crawl.nowMs + expireMs), math.min(PURGE + 2 * #marks, 4000)
    lists.send('ZREM', key, redis.call('ZRANGEBYSCORE', key, '-inf', crawl.nowMs, 'LIMIT', 0, most))
    -- An expiry further away than the span means that the server clock went back (a failover): the span counts from now.
    rememberUntil(crawl, latest, redis.call('ZRANGEBYSCORE', key, '(' .. latest, '+inf', 'LIMIT', 0, most))
    rememberUntil(crawl, latest, marks)
  end,
  forget = function(crawl, mark)
    local was = isSeen(crawl, redis.call('ZSCORE', crawl.keys.dupefilter, mark))
    redis.call('ZREM', crawl.keys.dupefilter, mark)
    return was
  end,
  count = function(crawl)
    return redis.call('ZCOUNT', crawl.keys.dupefilter, '(' .. lists.digits(crawl.nowMs), '+inf')
  end,
}
