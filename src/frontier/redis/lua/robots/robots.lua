-- What is known of the robots.txt of an origin. Where nothing is, the caller is to fetch it.
-- Atomic: of all nodes that ask, one fetches.
--
-- args: origin · domain: of the request that needs the rules · isFetching: the caller fetches it now
-- Returns JSON of RobotsAnswer (robots-state.ts). O(log n).

-- Whether a live node fetches it. A claim of the caller that it does not know of was made by a call whose reply was lost.
local function isFetched(crawl, args, record)
  if record.state ~= 'claimed' then return false end
  if record.node == crawl.caller then return args.isFetching and record.call ~= args.call end
  return nodes.isLive(crawl, record.node)
end

-- The answer to a request that must wait; nil where the caller is to fetch.
local function waiting(crawl, args, record)
  local forMs
  if isFetched(crawl, args, record) then
    -- Twice the time that the fetch has taken so far: a slow one costs few further leases.
    forMs = math.min(limits.MOST_ROBOTS_REST_MS, math.max(limits.LEAST_ROBOTS_REST_MS, crawl.nowMs - record.claimedMs))
  elseif record.state == 'waiting' and origins.validFor(crawl, record) > 0 then
    forMs = origins.validFor(crawl, record)
  else
    return nil
  end
  origins.rest(crawl, args.domain, record, forMs)
  return { kind = 'wait', forMs = forMs }
end

local function claim(crawl, args, record)
  -- The first fetch of a new round: the rules before have expired, or were given up.
  if record.state == 'rules' or record.state == 'unreachable' then record.failures = 0 end
  if not record.url then record.hops = 0 end
  record.state, record.node, record.call, record.claimedMs = 'claimed', crawl.caller, args.call, crawl.nowMs
  record.text, record.untilMs = nil, nil
  origins.rest(crawl, args.domain, record, limits.LEAST_ROBOTS_REST_MS)
  return { kind = 'fetch', claim = { origin = args.origin, domain = args.domain, token = lists.digits(args.call),
    url = record.url or cjson.null, hops = record.hops, failures = record.failures or 0, delayMs = record.delayMs or 0 } }
end

verbs.register('robots', { 'allow-oom', 'crawl', 'live-node' }, function(crawl, args)
  local record = origins.read(crawl, args.origin) or {}
  local forMs = origins.validFor(crawl, record)
  if (record.state == 'rules' or record.state == 'unreachable') and forMs > 0 then
    if record.state == 'rules' then return cjson.encode({ kind = 'rules', text = record.text, forMs = forMs }) end
    local reason = record.reason or 'robots_unreachable'
    return cjson.encode({ kind = 'unreachable', reason = reason, why = record.text, forMs = forMs })
  end
  local answer = waiting(crawl, args, record) or claim(crawl, args, record)
  origins.write(crawl, args.origin, record)
  return cjson.encode(answer)
end)
