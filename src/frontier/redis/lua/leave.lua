-- Deregister an incarnation; the last one ends the run and, where the crawl is truly complete and does not
-- persist, clears it. Atomic: "am I the last" and "is it complete" must not change before the clearing.
--
-- ARGV: 4 incarnation · 5 reason · 6 persist (0|1) · 7 forget the incarnation only (1: it joins anew at once)
-- Returns { last 0|1, cleared 0|1 }. O(leases).

local incarnation, reason = ARGV[4], ARGV[5]

local refusal = readMeta('control', 'has_start', 'start', 'closing', 'queue', 'limit', 'domain_numbers', 'volunteer')
if refusal then return redis.error_reply(refusal) end
local first = firstAnswer()
if first then return cmsgpack.unpack(first) end

for _, found in ipairs(leasesOf(incarnation, math.huge)) do giveBack(found[1], found[2]) end
call('ZREM', nodesKey, incarnation)
call('ZREM', deadKey, incarnation)
call('HDEL', infoKey, incarnation)
call('HDEL', heldKey, incarnation)
call('HDEL', pagesKey, incarnation)
if meta.volunteer == incarnation then setMeta('volunteer', '') end
for _, field in ipairs(call('HKEYS', answersKey)) do
  if sub(field, 1, #incarnation + 1) == incarnation .. ':' then call('HDEL', answersKey, field) end
end

local last = call('ZCARD', nodesKey) == 0 and ARGV[7] ~= '1'
local cleared = false
if last then
  setMeta('run_closed', (meta.closing and meta.closing ~= '') and meta.closing or reason)
  if ARGV[6] == '0' and isFinished(seedsWaiting()) then
    cleared = true
    call('UNLINK', requests, dupefilter, metaKey, queueKey, domainsKey, readyKey, waitingKey, delayedKey, suspectsKey, leasesKey,
      nodesKey, deadKey, infoKey, heldKey, pagesKey, crashesKey, failedKey, failuresKey, answersKey)
  end
end
local answer = { last and 1 or 0, cleared and 1 or 0 }
if not cleared then
  flush()
  keepAnswer(cmsgpack.pack(answer))
end
return answer
