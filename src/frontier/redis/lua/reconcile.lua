-- Compare the leases the store holds for this incarnation with those its node holds. What only the store holds
-- (a lease reply that was lost, a store that was rolled back) returns to pending uncounted, once older than the
-- grace that an answer may still need to arrive. Atomic with respect to the node's own settles.
--
-- ARGV: 4 grace ms · 5 ids held (20 bytes each) · 6 the crawl this node joined ·
-- 7… the numbers of the calls that gave them
-- Returns { returned, ids the store does not know as this node's… }. O(leases).
-- uses: nodes guards answers leases

local incarnation, graceMs, ids = ARGV[1], tonumber(ARGV[4]), ARGV[5]

local refusal = readMeta('queue', 'limit', 'domain_numbers')
if refusal then return redis.error_reply(refusal) end
if not isLive(incarnation) then return redis.error_reply(deathIn(ARGV[6])) end
confirmArrived()

local answer, held = { 0 }, {}
for i = 1, #ids / 20 do
  local id = sub(ids, i * 20 - 19, i * 20)
  local packed = call('HGET', leasesKey, id)
  local lease = packed and unpackLease(packed)
  if lease and lease[OWNER] == incarnation and lease[GIVEN_BY] == tonumber(ARGV[6 + i]) then
    held[id] = true
  else
    answer[#answer + 1] = id
  end
end
if tonumber(call('HGET', heldKey, incarnation) or 0) > #ids / 20 - (#answer - 1) then
  for _, found in ipairs(leasesOf(incarnation, math.huge)) do
    if not held[found[1]] and nowMs - found[2][LEASED_AT] >= graceMs then
      giveBack(found[1], found[2])
      answer[1] = answer[1] + 1
    end
  end
end
saveLeases()
flush()
return answer
