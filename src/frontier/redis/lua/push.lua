-- Accept a batch of requests: store, order and record the unseen ones in one step, or none of them.
-- Atomic: between recording a fingerprint and queueing its request a crash would lose the URL for good.
--
-- ARGV: 4 kind (links | seeds | seeds-filtered | start) · 5 queue class and 6 epoch for a new meta ('': make none) · 7
-- count · 8 of start requests the place of the first, and 9 how many there are · 10 the batch (see
-- parts/acceptance.lua).
-- A long list of them comes in parts, in order; each is accepted once, whichever node brings it.
-- A new meta has no shape yet: the first node to join decides it. A shape that stands holds for pushes as well.
-- Returns { accepted, duplicates, dropped }. O(n log m) for n requests on m pending.
-- uses: answers acceptance

local kind, count = ARGV[4], tonumber(ARGV[7])
createMeta(ARGV[5], ARGV[6])
local refusal = readMeta('start', acceptFields()) or refuseForeign()
if refusal then return redis.error_reply(refusal) end
agreeOnDupefilter()
local first = firstAnswer()
if first then return cmsgpack.unpack(first) end
-- The field `start` of the meta: how many start requests were pushed, or `pushed` when all were.
local from, total = tonumber(ARGV[8]), tonumber(ARGV[9])
local pushed = meta.start == 'pushed' and math.huge or number('start')
if kind == 'start' and from > pushed then
  return redis.error_reply('CRAWLNODE_GONE the start requests before these are gone')
end
unlessFull()
confirmArrived()

local answer = { 0, count, 0 }
if kind ~= 'start' or from == pushed then
  local accepted, duplicates, dropped = accept(ARGV[10], 1, count, kind)
  answer = { accepted, duplicates, dropped }
  if kind == 'start' then setMeta('start', from + count >= total and 'pushed' or from + count) end
end
keepAnswer(cmsgpack.pack(answer))
flush()
return answer
