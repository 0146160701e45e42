-- The delay between two requests to a domain: how long it is, and from when on it runs.

-- The delay in force: that of the settings, and at least what robots.txt and AutoThrottle ask for.
function delayTimer.delay(crawl, d)
  local robots = d.delays and d.delays.robots or 0
  return math.max(domainLimits.delay(crawl, d), robots, autothrottle.delay(crawl, d))
end

-- When it may be leased from again; 0 for at any time.
function delayTimer.dueAt(d) return math.max(d.nextAt, d.blockedUntil) end

-- Starts the delay timer for a download that begins at an instant. random: in [0, 1), for a randomized delay.
function delayTimer.start(crawl, d, random, beginAt)
  local delay = delayTimer.delay(crawl, d)
  if delay > 0 then
    local factor = domainLimits.isRandomized(crawl, d) and 1 + random / 2 or 1
    d.nextAt = beginAt + math.ceil(delay * factor)
  end
  d.lastAt = beginAt
end

-- A delay that is learnt after a lease counts from that lease on.
function delayTimer.countFromLastLease(crawl, d)
  local delay = delayTimer.delay(crawl, d)
  if delay > 0 and d.lastAt > 0 then d.nextAt = math.max(d.nextAt, math.min(d.lastAt, crawl.nowMs) + math.ceil(delay)) end
end

-- Whether the timer runs until an instant that no verb can have written, as when somebody changed the record.
function delayTimer.waitsTooLong(crawl, d)
  -- The delay may have been longer when the timer started, and is randomized.
  local longest = limits.FURTHEST_MS + 2 * delayTimer.delay(crawl, d)
  return d.nextAt > crawl.nowMs + longest or d.blockedUntil > domains.atMostADay(crawl, math.huge)
end

-- No instant of a domain is later than its delay explains; a throttle that is longer than any is over.
function delayTimer.bound(crawl, d)
  d.nextAt = math.min(d.nextAt, crawl.nowMs + math.ceil(delayTimer.delay(crawl, d)))
  if d.blockedUntil > domains.atMostADay(crawl, math.huge) then d.blockedUntil = 0 end
end
