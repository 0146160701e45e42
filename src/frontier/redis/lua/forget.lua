-- Remove a fingerprint from the dupefilter, and raise the epoch so that no node's cache still holds it as seen.
--
-- ARGV: 4 fingerprint, 40 hex
-- Returns 1 when it was there. O(1).

local refusal = readMeta('epoch')
if refusal then return redis.error_reply(refusal) end
local was = call('SREM', dupefilter, ARGV[4])
setMeta('epoch', string.format('%.0f', number('epoch') + 1))
flush()
return was
