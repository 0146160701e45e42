-- Begin to bring a backup back, or go on with the same one where it was cut off. From here on no node can join.
-- Atomic: a node that joins meanwhile finds either no restore or one that refuses it.
--
-- ARGV: 4 id of the restore · 5 force (0|1) · 6 queue class and 7 epoch for a new meta · 8… the parts it fills, each
-- with a `!` when it must be empty in any case
-- Returns { 'begun', entries applied } | { 'whole' } when this one was brought back before and nothing cleared since |
-- { 'live', nodes } | { 'other' } another restore was cut off | { 'full', part }. O(start_urls keys).
-- uses: restoring completion dupefilter

local refusal = readMeta('restoring', 'restored', 'restored_from', 'epoch', 'node_timeout', 'dupefilter')
if refusal and call('EXISTS', metaKey) == 1 then return redis.error_reply(refusal) end
local other = otherDupefilter()
if other then return redis.error_reply(other) end
local forced = ARGV[5] == '1'
local live = call('ZCOUNT', nodesKey, nowMs - number('node_timeout', 30000), '+inf')
if live > 0 and not forced then return { 'live', live } end
if meta.restoring == ARGV[4] then return { 'begun', number('restored') } end
if meta.restoring and meta.restoring ~= '' then return { 'other' } end

local sizes = {
  queue = function()
    return pendingCount() + call('ZCARD', suspectsKey) + call('ZCARD', delayedKey) + call('HLEN', leasesKey)
  end,
  failed = function() return call('ZCARD', failedKey) end,
  dupefilter = seenCount,
  start_urls = function()
    local bad = 0
    for i = FIRST_START_URLS, #KEYS do bad = bad + call('EXISTS', KEYS[i] .. ':bad') end
    return bad + seedsWaiting()
  end,
  items = function() return call('EXISTS', itemsKey, outboxKey) end,
  stats = function() return call('EXISTS', statsKey) end,
}
for i = 8, #ARGV do
  local part = string.match(ARGV[i], '[%a_]+')
  if sizes[part]() > 0 then
    if not forced then return { 'full', part } end
    if meta.restored_from == ARGV[4] then return { 'whole' } end
    if part ~= ARGV[i] then return { 'full', part } end
  end
end

createMeta(ARGV[6], ARGV[7])
unlessFull()
agreeOnDupefilter()
if not refusal then setMeta('epoch', string.format('%.0f', number('epoch') + 1)) end
setMeta('restoring', ARGV[4])
setMeta('restored', 0)
setMeta('restored_from', '')
saveMeta()
return { 'begun', 0 }
