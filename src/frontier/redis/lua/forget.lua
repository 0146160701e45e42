-- Remove a fingerprint from the dupefilter, and raise the epoch so that no node's cache still holds it as seen. Works
-- on a set that no crawl has used yet, such as one of Scrapy-Redis.
--
-- ARGV: 4 fingerprint, 20 bytes · 5 the same as 40 hex digits
-- Returns 1 when it was there. O(1).
-- uses: meta dupefilter

local exists = call('EXISTS', metaKey) == 1
local refusal = exists and (readMeta('epoch', 'dupefilter') or otherDupefilter())
if refusal then return redis.error_reply(refusal) end
local was = forgetMark(marksOf(ARGV[4] .. ARGV[5], 1, 21, 1)[1])
if was == 1 and exists then setMeta('epoch', string.format('%.0f', number('epoch') + 1)) end
saveMeta()
return was
