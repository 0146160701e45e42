-- Deregister an incarnation; the last one ends the run and, where it leaves since the crawl is truly complete (not for
-- a signal, stop or budget) and the crawl does not persist, clears it. Atomic: "am I the last" and "is it complete"
-- must not change before the clearing.
--
-- ARGV: 4 incarnation · 5 reason · 6 persist (0|1) · 7 forget the incarnation only (1: it joins anew at
-- once) · 8 the crawl it joined · 9 it stays where all others may have been killed: none was heard of within so many
-- ms; or ''
-- Returns { last 0|1, cleared 0|1 } | { 0, 0, ms until all others count as dead, their incarnations… } when it stays.
-- O(nodes + leases).
-- uses: nodes guards answers leases forgetting completion

local incarnation, reason, heardWithinMs = ARGV[4], ARGV[5], tonumber(ARGV[9])

-- Whoever stays is heard of, so that of two that want to leave the one does and the other is the last. Its answer is
-- not kept: sent again, the call looks again, and has one effect at most all the same.
local function mayAllBeDead()
  call('ZADD', nodesKey, 'XX', nowMs, incarnation)
  markDead()
  local others = call('ZREVRANGE', nodesKey, 0, -1, 'WITHSCORES')
  local names, latest = {}, 0
  for i = 1, #others, 2 do
    if others[i] ~= incarnation then
      names[#names + 1] = others[i]
      latest = max(latest, tonumber(others[i + 1]))
    end
  end
  if #names == 0 or nowMs - latest < heardWithinMs then return nil end
  return { 0, 0, latest + number('node_timeout', 30000) - nowMs, unpack(names, 1, min(#names, 100)) }
end

local refusal = readMeta('control', 'has_start', 'start', 'closing', 'queue', 'limit', 'domain_numbers', 'volunteer',
  'node_timeout', 'run_closed')
-- The answer of a leave that cleared everything, itself included, was lost.
if refusal and ARGV[6] == '0' and ARGV[7] ~= '1' and call('EXISTS', metaKey) == 0 then return { 1, 1 } end
if refusal then return redis.error_reply(refusal) end
if call('HGET', metaKey, 'crawl') ~= ARGV[8] then return redis.error_reply(deathIn(ARGV[8])) end
evenWhenFull()
local first = firstAnswer()
if first then return cmsgpack.unpack(first) end

if heardWithinMs and ARGV[6] == '0' and isLive(incarnation) and isFinished(seedsWaiting()) then
  local stays = mayAllBeDead()
  if stays then
    flush()
    return stays
  end
end

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
  if ARGV[6] == '0' and meta.run_closed == 'finished' and isFinished(seedsWaiting()) then
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
