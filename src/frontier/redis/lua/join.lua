-- Register a node as a new incarnation, start or continue the run, and set the crawl's tunables.
-- Atomic, so that two first nodes make one run and a foreign shape never gets in.
--
-- ARGV: 4 incarnation · 5 node info JSON · 6 shape JSON, without the dupefilter · 7 queue class · 8 epoch for a new
-- meta · 9 run id for a new run · 10 budgets (see parts/limits.lua) · 11 has start requests (0|1) · 12 delay ms ·
-- 13 randomize (0|1) · 14 concurrency per domain · 15 node timeout ms · 16 failed limit · 17 the crawl this node was in
-- before, or '' · 18 flush on start (0|1) · 19 limit of the queue
-- Returns { 'shape', the shape found, the dupefilter found or '' } | { 'joined', shape, found: pending, delayed,
-- leased, seen, start pushed, just closed, changed tunables, other live nodes, crawl, run, what became of the flush: ''
-- | flushed | others | interrupted } | { 'restoring' }. O(nodes + leases).
-- uses: nodes answers leases limits forgetting dupefilter

local incarnation, info, shape, queue = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local budgets, hasStart = ARGV[10], ARGV[11]

createMeta(queue, ARGV[17] == '' and ARGV[8] or '')
local refusal = readMeta('epoch', 'crawl', 'restoring', 'shape', 'queue', 'control', 'run', 'run_closed', 'closing',
  'closed_at', 'closed_limit', 'budgets', 'start', 'has_start', 'accepted', 'domain_numbers', 'delay', 'randomize',
  'limit', 'node_timeout', 'failed_limit', 'queue_limit', 'dupefilter')
if refusal then return redis.error_reply(refusal) end
if ARGV[17] ~= '' and meta.crawl ~= ARGV[17] then return redis.error_reply(deathIn(ARGV[17])) end
local first = firstAnswer()
if first then return cmsgpack.unpack(first) end
if (meta.restoring or '') ~= '' then return { 'restoring' } end

local timeoutMs = tonumber(ARGV[15])
local others = call('ZCOUNT', nodesKey, nowMs - timeoutMs, '+inf')
local alone = others == 0
local ended = (meta.run_closed and meta.run_closed ~= '') or (meta.closing and meta.closing ~= '')
local isNew = not meta.run or (alone and ended)
-- A node that was declared dead joins anew in the middle of its work: it begins nothing.
local wantsFlush = ARGV[18] == '1' and ARGV[17] == ''
local otherShape = (meta.shape and meta.shape ~= '' and meta.shape ~= shape) or otherDupefilter()
if otherShape and not (wantsFlush and isNew) then
  return { 'shape', (not meta.shape or meta.shape == '') and '{}' or meta.shape, meta.dupefilter or '' }
end
local closed = isNew and closedJustNow(budgets, timeoutMs)
if closed then return { 'joined', shape, 0, 0, 0, 0, 0, closed, '', others, meta.crawl, '', '' } end

local flushed = ''
if wantsFlush and not isNew then
  flushed = alone and 'interrupted' or 'others'
elseif wantsFlush then
  if number('accepted') > 0 or hasDupefilter() then flushed = 'flushed' end
  local epoch = string.format('%.0f', number('epoch') + 1)
  local fresh = { crawl = meta.crawl, epoch = epoch, queue = queue, control = meta.control }
  forgetCrawl(true)
  meta, numbers = {}, {}
  setMeta('version', FORMAT)
  for name, value in pairs(fresh) do setMeta(name, value) end
end

if not meta.shape or meta.shape == '' then
  -- Seeds came before the first node: they are in the order their client knew, which must be this one.
  if meta.queue ~= queue and number('pending') > 0 then
    return { 'shape', cjson.encode({ queueClass = meta.queue }), '' }
  end
  setMeta('shape', shape)
  setMeta('queue', queue)
end
agreeOnDupefilter()

if isNew then
  local begun = { run = ARGV[9], run_started = nowMs, run_pages = 0, run_items = 0, run_errors = 0, run_accepted = 0,
    run_closed = '', run_ended = '', closing = '', idle_since = '', budgets = budgets }
  for name, value in pairs(begun) do setMeta(name, value) end
else
  setMeta('budgets', joinBudgets(meta.budgets, budgets))
end
-- A stop was for those that are gone, unless this is one of them and joins anew.
if meta.control == 'stopping' and (isNew or alone and ARGV[17] == '') then setMeta('control', 'running') end
-- Nobody was there to be idle.
if alone then setMeta('idle_since', '') end

local changed, limitBefore = {}, meta.limit
local tunables = { delay = ARGV[12], randomize = ARGV[13], limit = ARGV[14], node_timeout = ARGV[15],
  failed_limit = ARGV[16], queue_limit = ARGV[19] }
for name, value in pairs(tunables) do
  if meta[name] and meta[name] ~= value and not alone then
    changed[#changed + 1] = name .. '=' .. meta[name] .. '=' .. value
  end
  if meta[name] ~= value then setMeta(name, value) end
end
setMeta('has_start', hasStart)
-- Another concurrency fills or frees the domains that are leased from.
if meta.limit ~= limitBefore then
  for _, packed in ipairs(call('HVALS', leasesKey)) do
    local name = unpackLease(packed)[LEASE_DOMAIN]
    placeDomain(domainOf(name))
  end
end

call('ZADD', nodesKey, nowMs, incarnation)
call('HSET', infoKey, incarnation, sub(info, 1, -2) .. ',"joinedAtMs":' .. string.format('%.0f', nowMs) .. '}')
call('HSET', heldKey, incarnation, 0)
local answer = { 'joined', shape, number('pending') + call('ZCARD', suspectsKey), call('ZCARD', delayedKey),
  call('HLEN', leasesKey), seenCount(), meta.start == 'pushed' and 1 or 0, '', table.concat(changed, ','), others,
  meta.crawl, meta.run, flushed }
keepAnswer(cmsgpack.pack(answer))
flush()
return answer
