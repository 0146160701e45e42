-- End one lease and commit its effects: items, discovered requests, counters and the acknowledgement in one step.
-- Atomic: this is what makes a page commit once; a stale token changes nothing.
--
-- ARGV: 4 id · 5 token · 6 kind (done | retry | failed | released) · 7 retry: after ms; released: 1 when unstarted ·
-- 8 HTTP status or 0 and attempts (2 bytes each), then for a retry 5 bytes of priority · 9 retry: record; failed: JSON of why · 10 epoch the sender's cache was judged
-- under ('' when nothing was withheld) · 11 feeds, each followed by a NUL · 12 stats · 13 items · 14 feed items ·
-- 15 requests (counts) · 16–19 the batch · 20… stats names and values, items, feed items, records
-- Returns { 'committed', accepted, duplicates, dropped, epoch, how many links are not seen } | { 'lost' } | { 'resend' } |
-- { 'closed' }: the run's item budget was used up before this page with its items came, so its request is pending
-- again. O(n log m).
-- uses: nodes answers acceptance leases

local incarnation, id, token, kind = ARGV[1], ARGV[4], ARGV[5], ARGV[6]
local statsCount, itemCount, feedItemCount, requestCount = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15])

local refusal = readMeta('epoch', 'delay', 'failed_limit', 'done', 'run_pages', 'budgets', 'closing', unpack(ACCEPT_FIELDS)) or refuseForeign()
if refusal then return redis.error_reply(refusal) end
evenWhenFull()
confirmArrived()
local first = firstAnswer()
if first then return cmsgpack.unpack(first) end
local packed = call('HGET', leasesKey, id)
local lease = packed and unpackLease(packed)
if not lease or lease.token ~= token or lease.incarnation ~= incarnation or not isLive(incarnation) then return { 'lost' } end
if ARGV[10] ~= '' and ARGV[10] ~= meta.epoch then return { 'resend' } end

local at = 20
local statsAt = at
local itemsAt = statsAt + 2 * statsCount
local feedItemsAt = itemsAt + itemCount
local recordsAt = feedItemsAt + feedItemCount

if comesTooLate(statsAt, itemsAt - 1) then
  giveBack(id, lease)
  keepAnswer(cmsgpack.pack({ 'closed' }))
  flush()
  return { 'closed' }
end

local accepted, duplicates, dropped, unseen = accept(16, recordsAt, requestCount, 'links')

if kind == 'released' then
  giveBack(id, lease)
  if ARGV[7] == '1' then setMeta('run_pages', math.max(0, number('run_pages') - 1)) end
else
  freeLease(id, lease)
  noteLife(id, kind, ARGV[8])
  if kind == 'done' then
    call('HDEL', requests, id)
    setMeta('done', number('done') + 1)
    if lease.crashes > 0 then call('HDEL', crashesKey, id) end
  elseif kind == 'retry' then
    call('HSET', requests, id, ARGV[9])
    park(lease.domain, sub(ARGV[8], 5), id, nowMs + tonumber(ARGV[7]))
  else
    fail(id, ARGV[9])
  end
  if kind ~= 'retry' then call('HINCRBY', pagesKey, incarnation, 1) end
end

countForBudgets(statsAt, itemsAt - 1)
closeWhenSpent()
for i = statsAt, itemsAt - 1, 2 do addToCounter(ARGV[i], ARGV[i + 1]) end
for i = itemsAt, feedItemsAt - 1, MAX_UNPACK do call('RPUSH', itemsKey, unpack(ARGV, i, math.min(i + MAX_UNPACK, feedItemsAt) - 1)) end
if feedItemCount > 0 then
  for feed in string.gmatch(ARGV[11], '([^%z]*)%z') do
    local last = call('HINCRBY', feedsKey, feed .. ':tail', feedItemCount)
    local sequence = last - feedItemCount
    for i = feedItemsAt, recordsAt - 1 do
      sequence = sequence + 1
      call('HSET', outboxKey, feed .. ':' .. string.format('%.0f', sequence), ARGV[i])
    end
  end
end

local answer = { 'committed', accepted, duplicates, dropped, meta.epoch, unseen }
keepAnswer(cmsgpack.pack(answer))
flush()
return answer
