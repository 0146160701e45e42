-- Bring back requests that wait: each at its old place among its equals, or parked until its old time. One that is live
-- already stays as it is.
-- Atomic: an id is in exactly one place at any instant, and counted once.
--
-- ARGV: 6 count · 7 ids (20 bytes each) · 8 numbers, 21 bytes each: 5 of priority, 7 arrival, 6 due at ms (0: pending),
-- 1 crashes, 2 domain index · 9 domain names, each followed by a NUL · 10… records
-- Returns as parts/restoring.lua says. O(n log m) for n requests on m pending.
-- uses: restoring queue

local refusal = readMeta('queue', 'arrival', 'domain_numbers', 'limit', unpack(RESTORE_FIELDS))
if refusal then return redis.error_reply(refusal) end
local isNew, answer = beginEntry()
if not isNew then return answer end

local ids, numbers, names = ARGV[7], ARGV[8], {}
for name in string.gmatch(ARGV[9], '([^%z]*)%z') do names[#names + 1] = name end
local records, crashed, taken, latest = {}, {}, {}, number('arrival')
for i = 1, tonumber(ARGV[6]) do
  local id = sub(ids, i * 20 - 19, i * 20)
  if not taken[id] and not isLiveRequest(id) then
    taken[id] = true
    local priority = sub(numbers, i * 21 - 20, i * 21 - 16)
    local arrival, dueMs, crashes, index = decode('>I7I6I1I2', numbers, i * 21 - 15)
    records[#records + 1] = id
    records[#records + 1] = ARGV[9 + i]
    if crashes > 0 then
      crashed[#crashed + 1] = id
      crashed[#crashed + 1] = crashes
    end
    if dueMs > 0 then
      park(names[index + 1], priority, id, dueMs)
    else
      latest = max(latest, arrival)
      requeue(names[index + 1], orderOf(priority, arrival), id, crashes)
    end
  end
end
chunked('HSET', requests, records)
chunked('HSET', crashesKey, crashed)
setMeta('accepted', number('accepted') + #records / 2)
-- What comes from now on comes after them, whatever clock they were accepted by.
setMeta('arrival', string.format('%.0f', latest))
flush()
return 1
