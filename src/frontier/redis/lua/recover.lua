-- Mark incarnations that fell silent as dead, all in this one step, then move a bounded number of dead ones' leases:
-- each counts a crash; with MAX_CRASHES it fails as `crashed`. Any node calls it, again and again.
-- Atomic: from the marking on, the dead node's tokens have no effect.
--
-- ARGV: 4 how many leases to move at most
-- Returns { leases moved, dead incarnations that still hold leases }. O(nodes + leases).
-- uses: nodes guards answers leases

local most = tonumber(ARGV[4])
if call('EXISTS', metaKey) == 0 then return { 0, 0 } end
local refusal = readMeta('queue', 'limit', 'domain_numbers', 'node_timeout', 'failed_limit', 'volunteer')
if refusal then return redis.error_reply(refusal) end
confirmArrived()

markDead()

local moved = 0
for _, incarnation in ipairs(call('ZRANGE', deadKey, 0, -1)) do
  local info
  for _, found in ipairs(moved < most and leasesOf(incarnation, most - moved) or {}) do
    local id, lease = found[1], found[2]
    freeLease(id, lease[OWNER], lease[LEASE_DOMAIN])
    local crashes = call('HINCRBY', crashesKey, id, 1)
    if crashes >= MAX_CRASHES then
      info = info or cjson.decode(call('HGET', infoKey, incarnation) or '{}')
      local node = info.id or incarnation
      fail(id, cjson.encode({ reason = 'crashed', attempts = crashes, crashes = crashes, node = node }))
      addToCounter('crashed/count', 1)
    else
      requeue(lease[LEASE_DOMAIN], lease[LEASE_ORDER], id, crashes)
    end
    noteLife(id, crashes >= MAX_CRASHES and 'failed' or 'pending')
    moved = moved + 1
  end
  saveLeases()
  if tonumber(call('HGET', heldKey, incarnation) or 0) <= 0 then dropIncarnation(incarnation) end
end
flush()
return { moved, call('ZCARD', deadKey) }
