-- When a run is over.

-- External seeds in the start_urls keys.
function completion.seedsWaiting(crawl)
  local total, count = 0, { list = 'LLEN', set = 'SCARD', zset = 'ZCARD' }
  for _, startUrls in ipairs(crawl.startUrls) do
    local command = count[redis.call('TYPE', startUrls.key).ok]
    if command then total = total + redis.call(command, startUrls.key) end
  end
  return total
end

-- Whether a request is anywhere but done or failed.
function completion.isBusy(crawl)
  return redis.call('HLEN', crawl.keys.leases) > 0 or not queue.isEmpty(crawl)
end

-- Whether all is done. pipelines: outboxes that must be empty; nil for none.
function completion.isIdle(crawl, seedsWaiting, pipelines)
  return seedsWaiting == 0 and meta.get(crawl, 'control') == 'running'
    and (meta.get(crawl, 'has_start') ~= '1' or meta.get(crawl, meta.get(crawl, 'run_start') or 'start') == 'pushed')
    and not completion.isBusy(crawl) and feeds.areAllWritten(crawl, pipelines)
end

-- Whether the hooks for an idle crawl were asked, and gave nothing: no page has begun since. True where there are none.
function completion.wasAsked(crawl)
  return meta.get(crawl, 'has_idle') ~= '1' or tonumber(meta.get(crawl, 'idle_asked')) == meta.number(crawl, 'run_pages')
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
