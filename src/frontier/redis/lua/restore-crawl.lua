-- Bring back what a backup says of the crawl as a whole. What stands already stays: the shape, and an earlier
-- beginning.
-- Atomic: counters grow by an entry once.
--
-- ARGV: 6 queue class · 7 shape JSON or '' · 8 start requests pushed, or `pushed` · 9 done · 10 removed · 11 began at
-- ms or '' · 12 the dupefilter holds fingerprints since ms, or ''
-- Returns as parts/restoring.lua says. O(1).
-- uses: restoring queue

local refusal = readMeta('queue', 'shape', 'start', 'done', 'removed', 'began', 'seen_since', unpack(RESTORE_FIELDS))
if refusal then return redis.error_reply(refusal) end
local isNew, answer = beginEntry()
if not isNew then return answer end

if ARGV[7] ~= '' and (meta.shape or '') == '' and pendingCount() == 0 then
  setMeta('shape', ARGV[7])
  setMeta('queue', ARGV[6])
end
if ARGV[8] == 'pushed' or (meta.start ~= 'pushed' and tonumber(ARGV[8]) > number('start')) then
  setMeta('start', ARGV[8])
end
setMeta('done', number('done') + ARGV[9])
setMeta('removed', number('removed') + ARGV[10])
setMeta('accepted', number('accepted') + ARGV[9] + ARGV[10])
for field, given in pairs({ began = ARGV[11], seen_since = ARGV[12] }) do
  if given ~= '' then setMeta(field, string.format('%.0f', min(number(field, nowMs), tonumber(given)))) end
end
saveMeta()
return 1
