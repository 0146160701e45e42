-- Bring back requests of the failed list; one that is live already stays as it is.
-- Atomic: an id is in exactly one place at any instant, and counted once.
--
-- ARGV: 6… for each: id, failed at µs, JSON of why, crashes, record ('' when it was not kept)
-- Returns as parts/restoring.lua says. O(n log m).
-- uses: restoring

local refusal = readMeta(unpack(RESTORE_FIELDS))
if refusal then return redis.error_reply(refusal) end
local isNew, answer = beginEntry()
if not isNew then return answer end

local count = 0
for i = 6, #ARGV, 5 do
  local id = ARGV[i]
  if not isLiveRequest(id) then
    call('ZADD', failedKey, ARGV[i + 1], id)
    call('HSET', failuresKey, id, ARGV[i + 2])
    if ARGV[i + 3] ~= '0' then call('HSET', crashesKey, id, ARGV[i + 3]) end
    if ARGV[i + 4] ~= '' then call('HSET', requests, id, ARGV[i + 4]) end
    count = count + 1
  end
end
setMeta('accepted', number('accepted') + count)
saveMeta()
return 1
