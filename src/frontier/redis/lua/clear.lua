-- Delete parts of a crawl; all of them leave no key of this spider and job, once sweep.lua has taken what a dupefilter
-- of many keys leaves. UNLINK by known names only.
-- Atomic: a node that joins meanwhile finds either all of it or none, and a live one refuses the whole.
--
-- ARGV: 4 force (0|1) · 5… parts: queue dupefilter start_urls items stats failed
-- Returns { 'cleared' } | { 'live', live nodes }. O(failed) when the queue goes and the failed list stays, else O(1).
-- uses: meta feeds dupefilter-clearing

local parts = {}
for i = 5, #ARGV do parts[ARGV[i]] = true end
local refusal = readMeta('epoch', 'removed', 'shape', 'queue', 'dupefilter', 'node_timeout', 'began', 'seen_since',
  'restoring')
-- What another data format holds cannot be told apart: its queue goes with its failed requests, and who is live is not
-- known.
local isOther = refusal and sub(refusal, 1, 16) == 'CRAWLNODE_FORMAT'
if isOther then
  if not parts.queue and (parts.failed or parts.dupefilter) then return redis.error_reply(refusal) end
  parts.failed = parts.failed or parts.queue
else
  local live = call('ZCOUNT', nodesKey, nowMs - number('node_timeout', 30000), '+inf')
  if live > 0 and ARGV[4] ~= '1' then return { 'live', live } end
end

local function clearQueue()
  local kept, crashes = {}, {}
  local function keep(from, id, list)
    local value = call('HGET', from, id)
    if not value then return end
    list[#list + 1] = id
    list[#list + 1] = value
  end
  if not parts.failed then
    for _, id in ipairs(call('ZRANGE', failedKey, 0, -1)) do
      keep(requests, id, kept)
      keep(crashesKey, id, crashes)
    end
  end
  local failedCount = parts.failed and 0 or call('ZCARD', failedKey)
  call('UNLINK', requests, metaKey, queueKey, chunksKey, domainsKey, readyKey, waitingKey, delayedKey, suspectsKey,
    leasesKey, nodesKey, deadKey, infoKey, heldKey, pagesKey, answersKey, crashesKey, repairedKey)
  if parts.failed then call('UNLINK', failedKey, failuresKey) end
  chunked('HSET', requests, kept)
  chunked('HSET', crashesKey, crashes)
  if failedCount > 0 or (not refusal and not parts.dupefilter and hasDupefilter()) then
    local epoch = string.format('%.0f', number('epoch') + 1)
    call('HSET', metaKey, 'version', FORMAT, 'epoch', epoch, 'crawl', epoch, 'shape', meta.shape or '',
      'dupefilter', parts.dupefilter and '' or meta.dupefilter or '', 'queue', meta.queue or '', 'control', 'running',
      'accepted', failedCount, 'began', nowMs, 'seen_since', meta.seen_since or meta.began or nowMs)
  end
end

local function clearFailed()
  local ids = call('ZRANGE', failedKey, 0, -1)
  chunked('HDEL', requests, ids)
  chunked('HDEL', crashesKey, ids)
  call('UNLINK', failedKey, failuresKey)
  if #ids > 0 and not refusal then setMeta('removed', number('removed') + #ids) end
end

if parts.queue then
  clearQueue()
  if not isOther then forgetFeeds() end
elseif parts.failed then
  clearFailed()
end
if parts.dupefilter then
  dropDupefilter()
  if not parts.queue and not refusal then
    setMeta('epoch', string.format('%.0f', number('epoch') + 1))
    -- The next one to write may choose another class.
    setMeta('dupefilter', '')
    setMeta('seen_since', nowMs)
  end
end
if parts.start_urls then
  for i = FIRST_START_URLS, #KEYS do call('UNLINK', KEYS[i], KEYS[i] .. ':bad') end
end
if parts.items then call('UNLINK', itemsKey, outboxKey, feedsKey) end
if parts.stats then call('UNLINK', statsKey) end
if not parts.queue and not refusal then
  -- A restore cannot go on where what it brought back is gone.
  if (meta.restoring or '') ~= '' then setMeta('restoring', '-') end
  setMeta('restored_from', '')
  saveMeta()
end
return { 'cleared' }
