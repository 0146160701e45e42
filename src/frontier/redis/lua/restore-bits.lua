-- Bring back a BloomDupeFilter, whose bits are all there is of it: first its index, into an empty one, then its pieces.
-- Atomic: the pieces belong to the generation of their index.
--
-- ARGV: 6 index, then pieces, seen, slices, filled, allocated | piece, then number and bits of each
-- Returns as parts/restoring.lua says. O(bytes).
-- uses: restoring dupefilter

local refusal = readMeta('dupefilter', unpack(RESTORE_FIELDS)) or otherDupefilter()
if refusal then return redis.error_reply(refusal) end
local isNew, answer = beginEntry()
if not isNew then return answer end

readIndex()
if ARGV[6] == 'index' then
  beginIndex()
  for i, field in ipairs({ 'pieces', 'seen', 'slices', 'filled', 'allocated' }) do
    index[field] = tonumber(ARGV[6 + i])
  end
  saveIndex()
else
  for i = 7, #ARGV, 2 do call('SET', index.prefix .. ARGV[i], ARGV[i + 1]) end
end
saveMeta()
return 1
