-- First step of a repair: pauses the crawl and deletes every queue, so that the records alone say what waits. Failures,
-- crashes and the politeness of domains are kept as far as they can be read.
-- Atomic: from here on every token is stale, and nothing is leased before repair_end. A repair that breaks off leaves the
-- crawl paused, and can be begun again.
--
-- args: force · queueClass, epoch: for a new meta · live: the crawl stands still (stall.lua), and its nodes stay
-- Returns the number of live nodes because of which nothing was done, or 0; under `live` 1 where a request is leased again, since
-- then it does not stand still any more; 1 where the record of the crawl, or fields of it, were gone: a node
-- of that crawl is refused whatever it does; and 1 where a restore was cut off: it ends here, and what it brought back is crawled.
-- O(domains + leases).
local NUMBERS = { 'epoch', 'accepted', 'done', 'removed', 'lost', 'arrival', 'run_leased', 'run_items', 'run_errors',
  'run_failed', 'run_error_pages', 'run_accepted', 'run_started', 'delay', 'limit', 'node_timeout', 'failed_limit', 'queue_limit', 'memory_limit', 'stored_bytes', 'pages_per_domain', 'idle_since',
  'hungry_at', 'cookies', 'cookies_floor', 'marks', 'marks_gone', 'pieces_looked', 'early', 'clock', 'clock_ahead',
  'stall_since', 'stall_tried', 'stall_left', 'came_back', 'repair_found' }
local INDEXES = { 'queue', 'domains', 'ready', 'waiting', 'suspects', 'delayed', 'leases', 'held' }
local NODES = { 'nodes', 'dead', 'node-info', 'settled', 'answers' }
local KEPT = { 'failed', 'failures', 'crashes', 'domains', 'validators', 'domain-accepted', 'early', 'robots', 'robots-kept',
  'feeds', 'outbox', 'ignored', 'telemetry', 'domain-stats', 'domain-recent' }

-- Requests that are not done, by whichever of their keys holds more.
local function living(crawl)
  local isRead, found = pcall(losses.found, crawl) -- not where a key holds another type
  local records = keys.isOf('hash', crawl.keys.requests) and redis.call('HLEN', crawl.keys.requests) or 0
  return math.max(isRead and found or 0, records)
end

-- Its fields of numbers hold numbers, and those that all verbs need are there. The number of done requests follows from the
-- others. Returns whether fields were lost.
local function mendMeta(crawl, args)
  local key = crawl.keys.meta
  if not keys.isOf('hash', key) then redis.call('UNLINK', key) end
  local version = redis.call('HGET', key, 'version')
  if version and version ~= FORMAT then verbs.refuse('CRAWLNODE_FORMAT ' .. version) end
  for _, name in ipairs(NUMBERS) do
    local value = redis.call('HGET', key, name)
    if value and value ~= '' and not reader.number(value) then redis.call('HDEL', key, name) end
  end
  -- The next node agrees on them anew.
  for _, name in ipairs({ 'shape', 'dupefilter' }) do
    local value = redis.call('HGET', key, name)
    if value and value ~= '' and not reader.json(value) then redis.call('HDEL', key, name) end
  end
  meta.create(crawl, args.queueClass, args.epoch, true)
  crawl.meta, crawl.metaNumbers = {}, {}
  local isDamaged = meta.missing(crawl) > 0
  local needed = { version = FORMAT, epoch = args.epoch, crawl = args.epoch, queue = args.queueClass, control = 'running',
    began = lists.digits(crawl.nowMs) }
  for name, value in pairs(needed) do redis.call('HSETNX', key, name, value) end
  redis.call('HSET', key, 'fields', 0)
  redis.call('HSET', key, 'fields', redis.call('HLEN', key) - 1)
  meta.read(crawl)
  if isDamaged and not meta.get(crawl, 'done') then
    local others = meta.number(crawl, 'removed') + meta.number(crawl, 'lost') + living(crawl)
    meta.set(crawl, 'done', math.max(0, meta.number(crawl, 'accepted') - others))
  end
  return isDamaged
end

-- Gives a domain a new record, with the politeness of the old one.
local function keepPoliteness(crawl, name, packed)
  local old = domains.unpack(name, packed)
  if not old then return end
  local d = domains.of(crawl, name)
  d.lastAt, d.nextAt = math.min(old.lastAt, crawl.nowMs), old.nextAt
  d.blockedUntil, d.pausedBy = old.blockedUntil, old.pausedBy
  for _, source in ipairs({ 'setting', 'robots', 'autothrottle' }) do
    local delay = old.delays and old.delays[source]
    if delay then
      d.delays = d.delays or {}
      d.delays[source] = math.min(delay, limits.FURTHEST_MS)
    end
  end
  delayTimer.bound(crawl, d)
  domains.markChanged(crawl, d)
end

verbs.register('repair_begin', {}, function(crawl, args)
  local at = crawl.keys
  local isNew = not meta.exists(crawl) or not keys.isOf('hash', at.meta)
  local wasThere = redis.call('EXISTS', at.requests, at.nodes, at.dupefilter, at.index) > 0
  if args.live then meta.read(crawl) elseif not isNew then clock.read(crawl) end
  local live = not isNew and keys.isOf('zset', at.nodes) and nodes.heardWithin(crawl, nodes.timeoutMs(crawl)) or 0
  if args.live and stall.isLeased(crawl) then return { 1, 0, 0 } end
  if live > 0 and not args.force and not args.live then return { live, 0, 0 } end
  local isDamaged = mendMeta(crawl, args)
  for _, word in ipairs(KEPT) do
    if not keys.isOf(keyTypes[word], at[word]) then redis.call('UNLINK', at[word]) end
  end
  if not meta.get(crawl, 'repairing') then
    local isRead, found = pcall(losses.found, crawl)
    meta.set(crawl, 'repair_found', isRead and found or 0)
  end
  local oldDomains = redis.call('HGETALL', at.domains)
  for _, word in ipairs(INDEXES) do redis.call('UNLINK', at[word]) end
  for _, word in ipairs(args.live and {} or NODES) do redis.call('UNLINK', at[word]) end
  for i = 1, #oldDomains, 2 do keepPoliteness(crawl, oldDomains[i], oldDomains[i + 1]) end
  -- What the crawl goes back to at the end; kept where an earlier repair broke off.
  if not meta.get(crawl, 'repairing') then meta.set(crawl, 'repairing', meta.get(crawl, 'control') or 'running') end
  meta.set(crawl, 'control', 'paused')
  meta.set(crawl, 'volunteer', '')
  meta.set(crawl, 'queued_domains', 0)
  meta.set(crawl, 'hungry', '')
  local isRestoring = meta.get(crawl, 'restoring')
  if isRestoring then
    meta.set(crawl, 'restoring', '')
    meta.raiseEpoch(crawl)
  end
  verbs.save(crawl)
  return { 0, (isNew and wasThere or isDamaged) and 1 or 0, isRestoring and 1 or 0 }
end)
