-- Delete parts of a crawl. With all parts no key of this spider and job remains, once sweep.lua has deleted the pieces of the
-- dupefilter.
-- Atomic: a node that joins meanwhile finds everything or nothing. While nodes are live, nothing is deleted without force.
--
-- args: force · parts: queue dupefilter start_urls items stats failed
-- Returns the number of live nodes because of which nothing was done; 0 where it was. O(failed) when the queue goes and the failed
-- list stays, else O(1).

-- The records and crashes of failed requests, which stay.
local function failedRecords(crawl, ids, key)
  local kept = {}
  for i, value in ipairs(lists.read('HMGET', key, ids)) do
    if value then lists.pair(kept, ids[i], value) end
  end
  return kept
end

-- What is left of meta while failed requests or fingerprints stay.
local function keepMeta(crawl, parts, fields, failedCount)
  local epoch = lists.digits(tonumber(fields.epoch or 0) + 1)
  meta.write(crawl, { 'version', FORMAT, 'epoch', epoch, 'crawl', epoch, 'shape', fields.shape or '',
    'dupefilter', not parts.dupefilter and fields.dupefilter or '', 'queue', fields.queue or '', 'control', 'running',
    'accepted', failedCount, 'began', crawl.wallMs, 'seen_since', fields.seen_since or fields.began or crawl.wallMs })
  for _, name in ipairs(parts.dupefilter and {} or marks.FIELDS) do
    if fields[name] then meta.write(crawl, { name, fields[name] }) end
  end
end

local function clearQueue(crawl, parts, refusal)
  local at, fields = crawl.keys, {}
  for _, name in ipairs({ 'epoch', 'shape', 'dupefilter', 'queue', 'seen_since', 'began' }) do
    fields[name] = not refusal and meta.get(crawl, name) or nil
  end
  for _, name in ipairs(marks.FIELDS) do fields[name] = not refusal and meta.get(crawl, name) or nil end
  local failed = parts.failed and {} or redis.call('ZRANGE', at.failed, 0, -1)
  local records, crashes = failedRecords(crawl, failed, at.requests), failedRecords(crawl, failed, at.crashes)
  wipe.queue(crawl)
  if parts.failed then redis.call('UNLINK', at.failed, at.failures) end
  lists.send('HSET', at.requests, records)
  lists.send('HSET', at.crashes, crashes)
  if #failed > 0 or (not refusal and not parts.dupefilter and dupefilters.exists(crawl)) then
    keepMeta(crawl, parts, fields, #failed)
  end
end

local function clearFailed(crawl)
  local ids = redis.call('ZRANGE', crawl.keys.failed, 0, -1)
  lists.send('HDEL', crawl.keys.requests, ids)
  lists.send('HDEL', crawl.keys.crashes, ids)
  redis.call('UNLINK', crawl.keys.failed, crawl.keys.failures, crawl.keys.ignored)
  earlyLinks.forget(crawl, ids)
  if #ids > 0 then meta.add(crawl, 'removed', #ids) end
end

local function clearDupefilter(crawl)
  dupefilters.drop(crawl)
  meta.raiseEpoch(crawl)
  -- They hold no more under another epoch.
  redis.call('UNLINK', crawl.keys.validators)
  -- Links and seeds bring lost requests back now.
  meta.add(crawl, 'removed', meta.number(crawl, 'lost'))
  meta.set(crawl, 'lost', 0)
  -- The next client that writes may choose another class.
  meta.set(crawl, 'dupefilter', '')
  for _, name in ipairs(marks.FIELDS) do meta.set(crawl, name, '') end
  -- The next run crawls its start requests again.
  meta.set(crawl, 'starts_again', '1')
  meta.set(crawl, 'seen_since', crawl.wallMs)
end

verbs.register('clear', { 'allow-oom' }, function(crawl, args)
  local at, parts = crawl.keys, {}
  for _, part in ipairs(args.parts) do parts[part] = true end
  -- In another data format queued and failed requests cannot be told apart, so they are deleted together, and whether nodes
  -- are live is not known.
  local refusal = meta.tryRead(crawl)
  local isOther = refusal and string.sub(refusal, 1, 16) == 'CRAWLNODE_FORMAT'
  if isOther then
    if not parts.queue and (parts.failed or parts.dupefilter) then verbs.refuse(refusal) end
    parts.failed = parts.failed or parts.queue
  else
    local live = nodes.heardWithin(crawl, nodes.timeoutMs(crawl))
    if live > 0 and not args.force then return live end
  end
  if not isOther and (parts.queue or parts.dupefilter) then feeds.acceptChanges(crawl) end
  if parts.queue then
    clearQueue(crawl, parts, refusal)
    if not isOther then feeds.forget(crawl, false) end
    if parts.dupefilter then dupefilters.drop(crawl) end
  else
    if parts.failed then clearFailed(crawl) end
    if parts.dupefilter then clearDupefilter(crawl) end
  end
  for _, startUrls in ipairs(parts.start_urls and crawl.startUrls or {}) do
    if not seedStream.forget(crawl, startUrls.key) then redis.call('UNLINK', startUrls.key) end
    redis.call('UNLINK', startUrls.bad)
  end
  if parts.items then
    for _, feed in ipairs(redis.call('HKEYS', at.feeds)) do feeds.drop(crawl, feed) end
    redis.call('UNLINK', at.items, at.outbox, at.feeds)
  end
  if parts.stats then redis.call('UNLINK', at.stats, at.telemetry, at['domain-stats'], at['domain-recent']) end
  if not parts.queue and not refusal then
    -- A restore under way cannot go on, since some of what it restored is deleted.
    if meta.get(crawl, 'restoring') then meta.set(crawl, 'restoring', '-') end
    meta.set(crawl, 'restored_from', '')
    meta.save(crawl)
  end
  return 0
end)
