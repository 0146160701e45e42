-- Every lease there is: nodes × concurrency of them. Reads only.
-- Atomic: a request is met once, though leases come and go.
--
-- Returns { id, order, domain, … }. O(leases).
-- uses: leases

local refusal = readMeta('queue')
if refusal then
  if call('EXISTS', metaKey) == 1 then return redis.error_reply(refusal) end
  return {}
end
local answer = {}
local all = call('HGETALL', leasesKey)
for i = 1, #all, 2 do
  local lease = unpackLease(all[i + 1])
  answer[#answer + 1] = all[i]
  answer[#answer + 1] = lease[LEASE_ORDER]
  answer[#answer + 1] = lease[LEASE_DOMAIN]
end
return answer
