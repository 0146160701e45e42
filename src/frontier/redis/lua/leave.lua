-- Deregister an incarnation; the last one ends the run and, where the crawl is truly complete and does not
-- persist, clears it. Atomic: "am I the last" and "is it complete" must not change before the clearing.
--
-- ARGV: 4 incarnation · 5 reason · 6 persist (0|1) · 7 forget the incarnation only (1: it joins anew at
-- once) · 8 the crawl it joined
-- Returns { last 0|1, cleared 0|1 }. O(leases).
-- uses: nodes guards answers leases forgetting completion

local incarnation, reason = ARGV[4], ARGV[5]

local refusal = readMeta('control', 'has_start', 'start', 'closing', 'queue', 'limit', 'domain_numbers', 'volunteer', 'node_timeout', 'run_closed')
-- The answer of a leave that cleared everything, itself included, was lost.
if refusal and ARGV[6] == '0' and ARGV[7] ~= '1' and call('EXISTS', metaKey) == 0 then return { 1, 1 } end
if refusal then return redis.error_reply(refusal) end
if call('HGET', metaKey, 'crawl') ~= ARGV[8] then return redis.error_reply(deathIn(ARGV[8])) end
evenWhenFull()
local first = firstAnswer()
if first then return cmsgpack.unpack(first) end

for _, found in ipairs(leasesOf(incarnation, math.huge)) do giveBack(found[1], found[2]) end
saveLeases()
dropIncarnation(incarnation)
if meta.volunteer == incarnation then setMeta('volunteer', '') end

markDead()
local last = call('ZCARD', nodesKey) == 0 and ARGV[7] ~= '1'
local cleared = false
if last then
  if not meta.run_closed or meta.run_closed == '' then
    setMeta('run_closed', (meta.closing and meta.closing ~= '') and meta.closing or reason)
    setMeta('run_ended', nowMs)
  end
  if ARGV[6] == '0' and isFinished(seedsWaiting()) then
    cleared = true
    forgetCrawl()
  end
end
local answer = { last and 1 or 0, cleared and 1 or 0 }
if not cleared then
  flush()
  keepAnswer(cmsgpack.pack(answer))
end
return answer
