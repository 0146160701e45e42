-- Register a node as a new incarnation, start or continue the run, and set the crawl's tunables.
-- Atomic, so that two nodes that join first begin one run, and a node of another shape never joins.
--
-- The caller is the incarnation. args: info: JSON of the node · shape: JSON, without the dupefilter · queueClass · epoch:
--   for a new meta · run: id for a new run · budgets (requests/budgets.lua) · hasStart · hasIdle · arguments: JSON, '' without any · start:
--   the field of meta for start requests under them · startsAgain: a new run pushes them again · tunables: { delay, randomize, limit,
--   node_timeout, failed_limit, queue_limit, memory_limit, pages_per_domain, slots, autothrottle }, texts · flush · known: meta.progress
--   that it knew as it was in the crawl before; absent for one that was not
-- Returns JSON of status: joined | shape | arguments | restoring | stopping, with the number of others · where it is of another shape: shape, dupefilter, as
--   found · where the run has other arguments: those · where it joined: found: what the crawl
--   holds, with the other live nodes (Joined), startPushed, changed: { name, before, after } of tunables, crawl, run,
--   budgets: of the run, flushed: flushed | others | interrupted, absent for nothing; or only found, crawl and justClosed: why the last run
--   was closed a moment ago, so that this node should not begin another. O(nodes + leases).

-- The answer to a node of another shape; nil if its shape fits.
local function otherShape(crawl, args, mayFlush)
  local shape = meta.get(crawl, 'shape')
  local differs = shape and shape ~= args.shape
  if (differs or dupefilters.isOther(crawl)) and not mayFlush then
    return { status = 'shape', shape = shape or '{}', dupefilter = meta.get(crawl, 'dupefilter') or '' }
  end
  -- Seeds pushed before the first node are in the queue by the queue class of their client, which must be the same.
  if not shape and not mayFlush and meta.get(crawl, 'queue') ~= args.queueClass and redis.call('ZCARD', crawl.keys.queue) > 0 then
    return { status = 'shape', shape = cjson.encode({ queueClass = meta.get(crawl, 'queue') }), dupefilter = '' }
  end
end

-- Deletes what earlier runs have left. Returns whether there was anything.
local function flush(crawl)
  local was = meta.number(crawl, 'accepted') > 0 or dupefilters.exists(crawl)
  wipe.renew(crawl, true, { 'crawl', 'epoch', 'queue', 'control' })
  return was
end

-- The dupefilter was emptied since the start requests were pushed: they are crawled again, whatever their arguments.
local function startAgain(crawl)
  for _, name in ipairs(redis.call('HKEYS', crawl.keys.meta)) do
    if name == 'start' or string.sub(name, 1, 6) == 'start:' then meta.set(crawl, name, '') end
  end
  meta.set(crawl, 'starts_again', '')
end

local function beginRun(crawl, args)
  local begun = { run = args.run, run_started = crawl.nowMs, run_leased = 0, stall_tried = '', run_items = 0, run_errors = 0,
    run_failed = 0, run_accepted = 0, run_error_pages = 0, run_good = '', run_closed = '', run_ended = '', closing = '', idle_since = '', budgets = args.budgets,
    run_args = args.arguments, run_start = args.start, idle_owner = '', idle_asked = '', run_counters = counters.asJson(crawl) }
  for name, value in pairs(begun) do meta.set(crawl, name, value) end
  if args.startsAgain then meta.set(crawl, args.start, '') end
end

-- The latest node's tunables hold for all. Returns those that changed: { name, before, after }, ….
local function setTunables(crawl, tunables)
  local changed, limitBefore, slotsBefore = {}, meta.get(crawl, 'limit'), meta.get(crawl, 'slots')
  for name, value in pairs(tunables) do
    local before = meta.get(crawl, name)
    if before and before ~= value then changed[#changed + 1] = { name, before, value } end
    if before ~= value then meta.set(crawl, name, value) end
  end
  crawl.decoded = {}
  -- Under another limit a domain with leases may become full, or stop being full.
  if meta.get(crawl, 'limit') ~= limitBefore or meta.get(crawl, 'slots') ~= slotsBefore then
    for _, name in ipairs(leaseRecords.domains(crawl)) do domains.markChanged(crawl, domains.of(crawl, name)) end
  end
  return changed
end

-- What the crawl holds.
local function found(crawl, others)
  return { pending = queue.pending(crawl), delayed = redis.call('ZCARD', crawl.keys.delayed),
    leased = redis.call('HLEN', crawl.keys.leases), seen = dupefilters.count(crawl),
    lost = meta.number(crawl, 'lost'), cameBack = losses.cameBack(crawl), nodes = others,
    seenGone = meta.number(crawl, 'marks_gone'), seenExpires = meta.get(crawl, 'marks_expire') == '1' }
end

local function tell(crawl, changed)
  local id, settings = nodes.idOf(crawl, crawl.caller), {}
  events.add(crawl, 'node_joined', { node = id })
  for i, change in ipairs(changed) do settings[i] = change[1] end
  if #settings > 0 then events.add(crawl, 'settings_changed', { node = id, settings = settings }) end
end

verbs.register('join', {}, function(crawl, args)
  keys.refuseForeign(crawl.KEYS)
  local at = crawl.keys
  meta.create(crawl, args.queueClass, not args.crawl and args.epoch)
  meta.read(crawl)
  if args.crawl then nodes.refuseOfOther(crawl) end
  -- The nodes know links that the store has no more.
  if args.known and meta.progress(crawl) < args.known then meta.raiseEpoch(crawl) end
  local first = answers.first(crawl)
  if first then return first end
  if meta.get(crawl, 'restoring') then return cjson.encode({ status = 'restoring' }) end
  local timeoutMs = tonumber(args.tunables.node_timeout)
  local others = nodes.heardWithin(crawl, timeoutMs)
  local alone = others == 0
  -- A stop was meant for the nodes of that time, dead or alive: a new one waits for their end.
  if meta.get(crawl, 'control') == 'stopping' and not alone and not args.crawl then
    return cjson.encode({ status = 'stopping', others = others })
  end
  local hasOtherArguments = (meta.get(crawl, 'run_args') or '') ~= args.arguments
  -- A run whose nodes are all dead goes on with the next node, unless that has other arguments.
  local isOver = meta.get(crawl, 'run_closed') or meta.get(crawl, 'closing') or (hasOtherArguments and not args.crawl)
  local isNew = not meta.get(crawl, 'run') or (alone and isOver)
  -- A node that was declared dead joins anew in the middle of its work: it flushes nothing.
  local wantsFlush = args.flush and not args.crawl
  local other = otherShape(crawl, args, wantsFlush and isNew)
  if other then return cjson.encode(other) end
  if not isNew and hasOtherArguments then
    return cjson.encode({ status = 'arguments', arguments = meta.get(crawl, 'run_args') or '' })
  end
  local justClosed = isNew and budgets.closedJustNow(crawl, args.budgets, timeoutMs)
  if justClosed then
    return cjson.encode({ status = 'joined', justClosed = justClosed, found = found(crawl, others), crawl = meta.get(crawl, 'crawl') })
  end
  marks.look(crawl)
  if alone and meta.get(crawl, 'starts_again') then startAgain(crawl) end
  local flushed
  if wantsFlush and not isNew then
    flushed = alone and 'interrupted' or 'others'
  elseif wantsFlush and flush(crawl) then
    flushed = 'flushed'
  end
  if not meta.get(crawl, 'shape') then
    meta.set(crawl, 'shape', args.shape)
    meta.set(crawl, 'queue', args.queueClass)
  end
  dupefilters.agree(crawl)
  if isNew then beginRun(crawl, args) end
  -- A stop ends with its nodes, unless this is one of them and joins anew.
  if meta.get(crawl, 'control') == 'stopping' and (isNew or (alone and not args.crawl)) then
    meta.set(crawl, 'control', 'running')
  end
  -- Time without nodes is not idle time.
  if alone then meta.set(crawl, 'idle_since', '') end
  local changed = setTunables(crawl, args.tunables)
  meta.set(crawl, 'has_start', args.hasStart and 1 or 0)
  meta.set(crawl, 'has_idle', args.hasIdle and 1 or 0)
  redis.call('ZADD', at.nodes, crawl.nowMs, crawl.caller)
  -- Otherwise this node would count those that were killed before it came as live once more (base/clock.lua).
  meta.set(crawl, 'clock', crawl.nowMs)
  local info = string.sub(args.info, 1, -2) .. ',"joinedAtMs":' .. lists.digits(crawl.wallMs) .. '}'
  redis.call('HSET', at['node-info'], crawl.caller, info)
  redis.call('HSET', at.held, crawl.caller, 0)
  tell(crawl, changed)
  local reply = cjson.encode({ status = 'joined', found = found(crawl, others), startPushed = meta.get(crawl, args.start) == 'pushed',
    changed = alone and {} or changed, crawl = meta.get(crawl, 'crawl'), run = meta.get(crawl, 'run'),
    budgets = meta.get(crawl, 'budgets') or '', flushed = flushed })
  answers.keep(crawl, reply)
  verbs.save(crawl)
  return reply
end)
