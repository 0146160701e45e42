-- When a run is over.

-- External seeds in the start_urls keys. notesLosses: as in seeds/seed-stream.lua
function completion.seedsWaiting(crawl, notesLosses)
  local total, count = 0, { list = 'LLEN', set = 'SCARD', zset = 'ZCARD' }
  for _, startUrls in ipairs(crawl.startUrls) do
    local type = redis.call('TYPE', startUrls.key).ok
    if count[type] then total = total + redis.call(count[type], startUrls.key) end
    if type == 'stream' then total = total + seedStream.waiting(crawl, startUrls.key, notesLosses) end
  end
  return total
end

-- Whether a request is anywhere but done or failed.
function completion.isBusy(crawl)
  return redis.call('HLEN', crawl.keys.leases) > 0 or not queue.isEmpty(crawl)
end

-- Whether the start requests of the run are pushed. A name that is none, as somebody else wrote it, would be waited for without an end.
local function isStarted(crawl)
  local name = meta.get(crawl, 'run_start') or ''
  if string.sub(name, 1, 6) ~= 'start:' then name = 'start' end
  return meta.get(crawl, 'has_start') ~= '1' or meta.get(crawl, name) == 'pushed'
end

-- Whether all is done. pipelines: outboxes that must be empty; nil for none.
function completion.isIdle(crawl, seedsWaiting, pipelines)
  return seedsWaiting == 0 and meta.get(crawl, 'control') == 'running'
    and isStarted(crawl) and not completion.isBusy(crawl) and feeds.areAllWritten(crawl, pipelines)
end

-- Whether the hooks for an idle crawl were asked, and gave nothing: no page has begun since. True where there are none.
function completion.wasAsked(crawl)
  return meta.get(crawl, 'has_idle') ~= '1' or tonumber(meta.get(crawl, 'idle_asked')) == meta.number(crawl, 'run_leased')
end

-- The incarnation that asks the hooks now; nil when none does.
function completion.asker(crawl)
  local owner = meta.get(crawl, 'idle_owner')
  return owner and nodes.isLive(crawl, owner) and owner or nil
end

-- True completion: nothing is left to do, and the hooks for an idle crawl have nothing to add.
function completion.isFinished(crawl, seedsWaiting, pipelines)
  return completion.isIdle(crawl, seedsWaiting, pipelines) and completion.wasAsked(crawl)
end

-- The state of the crawl: CrawlState of types/leases.ts. hasLeased: this call leases a request.
function completion.describe(crawl, hasLeased)
  local seeds, isBusy = completion.seedsWaiting(crawl, true), hasLeased or completion.isBusy(crawl)
  local idleSince = meta.get(crawl, 'idle_since')
  if isBusy and idleSince then meta.set(crawl, 'idle_since', '') end
  if not isBusy and not idleSince then meta.set(crawl, 'idle_since', crawl.nowMs) end
  local isIdle = not isBusy and not crawl.stall and completion.isIdle(crawl, seeds, crawl.args.lease.pipelines)
  local isFinished = isIdle and completion.wasAsked(crawl)
  -- Idle nodes ask once a second, and a node that leaves a finished crawl checks when the others were heard from (leave.lua).
  if isFinished then redis.call('ZADD', crawl.keys.nodes, 'XX', crawl.nowMs, crawl.caller) end
  return {
    control = stall.isRebuilding(crawl) and 'running' or meta.get(crawl, 'control'), stall = crawl.stall or cjson.null,
    closing = meta.get(crawl, 'closing') or cjson.null,
    finished = isFinished, idleDue = isIdle and not isFinished and not completion.asker(crawl),
    acceptedInRun = meta.number(crawl, 'run_accepted'), seedsWaiting = seeds,
    idleMs = (isBusy or crawl.stall) and 0 or math.max(0, crawl.nowMs - meta.number(crawl, 'idle_since')),
    clockAheadMs = crawl.aheadMs,
    full = queueLimit.isReached(crawl), lost = meta.number(crawl, 'lost'), cameBack = losses.cameBack(crawl),
    seenGone = meta.number(crawl, 'marks_gone'), seenExpires = meta.get(crawl, 'marks_expire') == '1',
  }
end
