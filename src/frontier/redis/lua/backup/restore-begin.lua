-- Begin a restore, or continue the same one after it was cut off. Until it ends no node can join.
-- Atomic: a node joins before the restore begins, or is refused.
--
-- args: restore: id · force · parts: the parts to restore · exclusive: those of them that must be empty even with force ·
--   queueClass, epoch: for a new meta
-- Returns JSON: status begun, with entries: how many are restored already · whole: this backup was restored before, and
--   nothing was cleared since · live, with nodes · other: another restore was cut off · full, with part: the first that
--   is not empty. O(start_urls keys).

-- How much a part holds.
local sizes = {
  queue = function(crawl)
    return redis.call('ZCARD', crawl.keys.delayed) + redis.call('HLEN', crawl.keys.leases) + queue.pending(crawl)
  end,
  failed = function(crawl) return redis.call('ZCARD', crawl.keys.failed) end,
  dupefilter = function(crawl) return dupefilters.count(crawl) end,
  start_urls = function(crawl)
    local bad = 0
    for _, startUrls in ipairs(crawl.startUrls) do bad = bad + redis.call('EXISTS', startUrls.bad) end
    return bad + completion.seedsWaiting(crawl)
  end,
  items = function(crawl) return redis.call('EXISTS', crawl.keys.items, crawl.keys.outbox) end,
  stats = function(crawl) return redis.call('EXISTS', crawl.keys.stats) end,
}

-- The answer that refuses the restore; nil if it may begin.
local function obstacle(crawl, args)
  local isExclusive = {}
  for _, part in ipairs(args.exclusive) do isExclusive[part] = true end
  for _, part in ipairs(args.parts) do
    if sizes[part](crawl) > 0 then
      if not args.force then return { status = 'full', part = part } end
      if meta.get(crawl, 'restored_from') == args.restore then return { status = 'whole' } end
      if isExclusive[part] then return { status = 'full', part = part } end
    end
  end
end

verbs.register('restore_begin', {}, function(crawl, args)
  local isNew = not meta.exists(crawl)
  if not isNew then meta.read(crawl) end
  dupefilters.refuseOther(crawl)
  local live = nodes.heardWithin(crawl, nodes.timeoutMs(crawl))
  if live > 0 and not args.force then return cjson.encode({ status = 'live', nodes = live }) end
  local underWay = meta.get(crawl, 'restoring')
  if underWay == args.restore then return cjson.encode({ status = 'begun', entries = meta.number(crawl, 'restored') }) end
  if underWay then return cjson.encode({ status = 'other' }) end
  local why = obstacle(crawl, args)
  if why then return cjson.encode(why) end
  meta.create(crawl, args.queueClass, args.epoch)
  if not isNew then meta.raiseEpoch(crawl) end
  dupefilters.agree(crawl)
  meta.set(crawl, 'restoring', args.restore)
  meta.set(crawl, 'restored', 0)
  meta.set(crawl, 'restored_from', '')
  verbs.save(crawl)
  return cjson.encode({ status = 'begun', entries = 0 })
end)
