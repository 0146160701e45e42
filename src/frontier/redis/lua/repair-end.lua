-- Last step of a repair: counters agree with what is there, no key has a time to live, and the crawl goes on as it was.
--
-- ARGV: none of its own
-- Returns { pending, delayed, failed }. O(failed).
-- uses: leases

local refusal = readMeta('repairing', 'control', 'done', 'removed')
if refusal then return redis.error_reply(refusal) end
-- Beyond FAILED_LIMIT a failed request has no record, only its reason.
for _, id in ipairs(call('HKEYS', failuresKey)) do
  if not call('ZSCORE', failedKey, id) then call('ZADD', failedKey, nowUs, id) end
end
for _, key in ipairs({ requests, dupefilter, dupefilter .. ':~index', itemsKey, statsKey, metaKey, queueKey, chunksKey,
  domainsKey, readyKey, waitingKey, delayedKey, suspectsKey, crashesKey, failedKey, failuresKey, feedsKey,
  outboxKey }) do
  call('PERSIST', key)
end
for i = FIRST_START_URLS, #KEYS do call('PERSIST', KEYS[i]) end
local pending = pendingCount() + call('ZCARD', suspectsKey)
local delayed, failed = call('ZCARD', delayedKey), call('ZCARD', failedKey)
setMeta('accepted', pending + delayed + failed + number('done') + number('removed'))
if meta.repairing and meta.repairing ~= '' then setMeta('control', meta.repairing) end
flush()
call('HDEL', metaKey, 'repairing')
call('UNLINK', repairedKey)
return { pending, delayed, failed }
