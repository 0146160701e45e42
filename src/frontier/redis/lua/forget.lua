-- Remove a fingerprint from the dupefilter, and raise the epoch so that no node's cache still holds it as seen. Works
-- on a set that no crawl has used yet, such as one of Scrapy-Redis.
--
-- ARGV: 4 fingerprint, 40 hex
-- Returns 1 when it was there. O(1).
-- uses: meta

local refusal = readMeta('epoch')
local exists = call('EXISTS', metaKey) == 1
if refusal and exists then return redis.error_reply(refusal) end
local was = call('SREM', dupefilter, ARGV[4])
if was == 1 and exists then setMeta('epoch', string.format('%.0f', number('epoch') + 1)) end
saveMeta()
return was
