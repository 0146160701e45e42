-- Every entry is in the crawl: nodes may join, and what caches knew of the dupefilter is void.
-- Atomic: the epoch rises with the first instant in which a node can join.
--
-- ARGV: 4 id of the restore
-- Returns 1, also when it was ended before; 0 when another one, or none, is under way. O(1).
-- uses: restoring

local refusal = readMeta('restoring', 'restored_from', 'epoch')
if refusal then return redis.error_reply(refusal) end
if meta.restored_from == ARGV[4] then return 1 end
if meta.restoring ~= ARGV[4] then return 0 end
unlessFull()
setMeta('restoring', '')
setMeta('restored_from', ARGV[4])
setMeta('epoch', string.format('%.0f', number('epoch') + 1))
saveMeta()
return 1
