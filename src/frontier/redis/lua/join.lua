-- Register a node as a new incarnation, start or continue the run, and set the crawl's tunables.
-- Atomic, so that two first nodes make one run and a foreign shape never gets in.
--
-- ARGV: 4 incarnation · 5 node info JSON · 6 shape JSON · 7 queue class · 8 epoch for a new meta · 9 run id for a
-- new run · 10 max pages (0: none) · 11 has start requests (0|1) · 12 delay ms · 13 randomize (0|1) ·
-- 14 concurrency per domain · 15 node timeout ms · 16 failed limit
-- Returns { status, shape found, found: pending, delayed, leased, seen, start pushed, just closed, changed tunables }
-- with status joined | shape. O(log n).

local incarnation, info, shape, queue = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local maxPages, hasStart = tonumber(ARGV[10]), ARGV[11]

createMeta(queue, ARGV[8])
local refusal = readMeta('shape', 'queue', 'control', 'run', 'run_closed', 'closing', 'closed_at', 'closed_pages', 'max_pages', 'start', 'has_start',
  'delay', 'randomize', 'limit', 'node_timeout', 'failed_limit')
if refusal then return redis.error_reply(refusal) end
if firstAnswer() then return { 'joined', shape, 0, 0, 0, 0, 0, '', '' } end
if meta.shape and meta.shape ~= '' and meta.shape ~= shape then return { 'shape', meta.shape } end
if not meta.shape or meta.shape == '' then
  -- Seeds came before the first node: they are in the order their client knew, which must be this one.
  if meta.queue ~= queue and call('ZCARD', queueKey) > 0 then return { 'shape', cjson.encode({ queueClass = meta.queue }) } end
  setMeta('shape', shape)
  setMeta('queue', queue)
end

local timeoutMs = tonumber(ARGV[15])
local alone = #call('ZRANGEBYSCORE', nodesKey, nowMs - timeoutMs, '+inf', 'LIMIT', 0, 1) == 0
local ended = (meta.run_closed and meta.run_closed ~= '') or (meta.closing and meta.closing ~= '')
if not meta.run or (alone and ended) then
  if maxPages > 0 and number('closed_pages') == maxPages
    and nowMs - number('closed_at') < timeoutMs then
    return { 'joined', shape, 0, 0, 0, 0, 0, 'closespider_pagecount', '' }
  end
  for name, value in pairs({ run = ARGV[9], run_started = nowMs, run_pages = 0, run_accepted = 0, run_closed = '', closing = '', idle_since = '', max_pages = maxPages }) do
    setMeta(name, value)
  end
  if meta.control == 'stopping' then setMeta('control', 'running') end
elseif maxPages > 0 or not meta.max_pages then
  setMeta('max_pages', maxPages)
end

local changed = {}
local tunables = { delay = ARGV[12], randomize = ARGV[13], limit = ARGV[14], node_timeout = ARGV[15], failed_limit = ARGV[16] }
for name, value in pairs(tunables) do
  if meta[name] and meta[name] ~= value and not alone then changed[#changed + 1] = name .. '=' .. meta[name] .. '=' .. value end
  if meta[name] ~= value then setMeta(name, value) end
end
setMeta('has_start', hasStart)

call('ZADD', nodesKey, nowMs, incarnation)
call('HSET', infoKey, incarnation, info)
call('HSET', heldKey, incarnation, 0)
keepAnswer('joined')
flush()
return { 'joined', shape, call('ZCARD', queueKey) + call('ZCARD', suspectsKey), call('ZCARD', delayedKey), call('HLEN', leasesKey),
  call('SCARD', dupefilter), meta.start == 'pushed' and 1 or 0, '', table.concat(changed, ',') }
