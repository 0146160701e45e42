-- Bring back what a dupefilter knew, into that of the crawl's own class: the later instant stays, and a life that is
-- known already.
-- Atomic: an entry counts once.
--
-- ARGV: 6 what else is known: '' | untils | lives · 7 count · 8 fingerprints (20 bytes each; of a CompactDupeFilter the
-- first 8 count) · 9… for each: the instant it is forgotten in ms or +inf | its packed life | itself, for an
-- RFPDupeFilter, whose SET holds whatever stood in it
-- Returns as parts/restoring.lua says. O(n).
-- uses: restoring dupefilter

local knows, count = ARGV[6], tonumber(ARGV[7])
local refusal = readMeta('dupefilter', unpack(RESTORE_FIELDS)) or otherDupefilter()
if refusal then return redis.error_reply(refusal) end
if not isOf(DUPEFILTER_TYPE, dupefilter) then
  return redis.error_reply('WRONGTYPE the dupefilter of this crawl holds another type')
end
local isNew, answer = beginEntry()
if not isNew then return answer end

local given = {}
for i = 1, #ARGV - 8 do given[i] = ARGV[8 + i] end
if DUPEFILTER_TYPE == 'set' then
  chunked('SADD', dupefilter, given)
elseif DUPEFILTER_TYPE == 'zset' and knows == 'untils' then
  for i, mark in ipairs(marksOf(ARGV[8], 1, 1, count)) do call('ZADD', dupefilter, 'GT', given[i], mark) end
elseif DUPEFILTER_TYPE == 'hash' then
  local finished = packLife('done', 0, 0)
  for i, mark in ipairs(marksOf(ARGV[8], 1, 1, count)) do
    call('HSETNX', dupefilter, mark, knows == 'lives' and given[i] or finished)
  end
else
  recordMarks(marksOf(ARGV[8], 1, 1, count))
end
saveMeta()
return 1
