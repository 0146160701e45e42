-- A step of a repair: puts records into the queue again, or to the failed list what had failed or cannot be read.
-- Atomic, and harmless when repeated: an id that stands where it belongs is passed over.
--
-- ARGV: 4 ids (20 bytes each) · 5 of each 14 bytes: 5 of priority, 2 domain index (65535: the record cannot be read),
-- 7 of arrival · 6 domain names, each followed by a NUL · 7 JSON of why an unreadable one failed
-- Returns how many were put into the queue. O(n log m).
-- uses: leases guards

local refusal = readMeta('queue', 'limit', 'delay', 'domain_numbers', 'failed_limit')
if refusal then return redis.error_reply(refusal) end
unlessFull()
local names = {}
for name in string.gmatch(ARGV[6], '([^%z]*)%z') do names[#names + 1] = name end
local queued = 0
for i = 1, #ARGV[4] / 20 do
  local id = sub(ARGV[4], i * 20 - 19, i * 20)
  local isNew = call('HEXISTS', requests, id) == 1 and call('SADD', repairedKey, id) == 1
  if isNew and not call('ZSCORE', failedKey, id) then
    local index = decode('>I2', ARGV[5], i * 14 - 8)
    if call('HEXISTS', failuresKey, id) == 1 then
      call('ZADD', failedKey, nowUs, id)
    elseif index == 65535 then
      fail(id, ARGV[7])
    else
      local order = orderOf(sub(ARGV[5], i * 14 - 13, i * 14 - 9), decode('>I7', ARGV[5], i * 14 - 6))
      requeue(names[index + 1], order, id, tonumber(call('HGET', crashesKey, id) or 0) or 0)
      queued = queued + 1
    end
  end
end
flush()
return queued
