-- Drop failed requests for good; they count as removed.
--
-- ARGV: 4 ids (20 bytes each)
-- Returns how many were dropped. O(n log m).
-- uses: meta

if call('EXISTS', metaKey) == 0 then return 0 end
local refusal = readMeta('removed')
if refusal then return redis.error_reply(refusal) end
local dropped = 0
for i = 1, #ARGV[4] / 20 do
  local id = sub(ARGV[4], i * 20 - 19, i * 20)
  if call('ZREM', failedKey, id) == 1 then
    call('HDEL', requests, id)
    call('HDEL', failuresKey, id)
    call('HDEL', crashesKey, id)
    dropped = dropped + 1
  end
end
if dropped > 0 then setMeta('removed', number('removed') + dropped) end
saveMeta()
return dropped
