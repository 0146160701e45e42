-- The clock of a crawl: TIME of its server plus an offset, so that it never goes back when the clock of the server is set
-- back, or after a failover to a server that is behind. Otherwise all that waits for an instant would stand still until then.
--
-- meta.clock is the last instant, stored when it has advanced by a second; meta.clock_ahead is the offset. Where the server
-- shows less than the last instant, the offset bridges the difference. It shrinks by 1 % of the time that passes, and ends
-- with a step forward, so that failovers between servers with different clocks do not add up.
--
-- Where the clock is set forward, all heartbeats look old. A live node that is the first to see this counts them from now. A client
-- that is no live node does not store the instant, so that the next node sees it as well.
--
-- crawl.nowMs and nowUs are that clock. crawl.wallMs and wallUs are TIME: for what people see, and for expiries of cookies. A dupefilter
-- forgets by nowMs, as it was told at the push.

local TEN_YEARS = 10 * 366 * 86400000

-- Whether so much time has passed since any call that the clock was set forward, or all nodes stood still.
local function isLeap(crawl, stepMs)
  return stepMs > limits.CLOCK_LEAP_MS and stepMs > nodes.timeoutMs(crawl) / 2
end

-- Sets the clock of a call from the fields of meta. Only what verbs.save writes is stored.
function clock.bridge(crawl, last, ahead)
  last, ahead = reader.number(last) or 0, reader.number(ahead) or 0
  -- No clock of a server was ever so far off: somebody has written it.
  if math.max(last, crawl.wallMs + ahead) > crawl.wallMs + TEN_YEARS then last, ahead = 0, 0 end
  local before, nowMs, isStep = ahead, crawl.wallMs + ahead, true
  if nowMs < last then
    nowMs, ahead = last, last - crawl.wallMs
  elseif ahead > 0 and nowMs - last > limits.CLOCK_STEP_MS then
    ahead = math.max(0, last - crawl.wallMs)
    nowMs = crawl.wallMs + ahead
  else
    isStep = false
    ahead = math.max(0, ahead - math.floor((nowMs - last) / limits.CLOCK_SHRINKS_BY))
    nowMs = crawl.wallMs + ahead
  end
  crawl.nowMs, crawl.nowUs, crawl.aheadMs = nowMs, nowMs * 1000 + crawl.wallUs % 1000, ahead
  if crawl.savesClock and last > 0 and isLeap(crawl, nowMs - last) and not nodes.hearAll(crawl) then return end
  if crawl.savesClock and (nowMs - last >= limits.CLOCK_SAVE_MS or isStep) then
    meta.set(crawl, 'clock', nowMs)
    if ahead ~= before then meta.set(crawl, 'clock_ahead', ahead) end
  end
end

-- For verbs that do not read the record of the crawl.
function clock.read(crawl)
  local found = redis.call('HMGET', crawl.keys.meta, 'clock', 'clock_ahead')
  clock.bridge(crawl, found[1], found[2])
end
