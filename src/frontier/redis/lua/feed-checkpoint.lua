-- What was written is safe on disk: remember how far, and drop it from the outbox. Renews the writer's claim.
-- Atomic: an item leaves the outbox only with the checkpoint that covers it. release ends the claim; 2 also an export.
--
-- ARGV: 4 feed · 5 owner · 6 sequence or '' to only renew · 7 length in bytes · 8 header · 9 release (0|1|2) ·
-- 10 the sequence of the checkpoint before it, or '' where that does not matter
-- Returns 1, 0 when the feed has another owner by now, or 2 when the store knows another checkpoint than the one
-- before: it was restored from an older copy, or a flush forgot the file. O(items covered).
-- uses: guards feeds

local feed = ARGV[4]
local known = call('HGET', feedsKey, feed)
local writer = known and cjson.decode(known)
-- A feed that a reset has forgotten: there is nothing to remember.
if not writer and call('HEXISTS', feedsKey, feed .. ':tail') == 0 then return 1 end
if not writer or writer.owner ~= ARGV[5] then return 0 end
local written = writer.sequence or 0
if ARGV[10] ~= '' and written ~= tonumber(ARGV[10]) and written ~= tonumber(ARGV[6]) then return 2 end
evenWhenFull()
if ARGV[6] ~= '' then
  local sequence, dropped = tonumber(ARGV[6]), {}
  for i = written + 1, sequence do dropped[#dropped + 1] = feed .. ':' .. string.format('%.0f', i) end
  chunked('HDEL', outboxKey, dropped)
  writer.sequence, writer.lengthBytes, writer.header = sequence, tonumber(ARGV[7]), ARGV[8]
end
writer.seenMs = nowMs
if ARGV[9] ~= '0' then writer.owner = nil end
if ARGV[9] == '2' then writer.exporting = nil end
if ARGV[9] ~= '0' and isForgotten(feed, writer) then
  call('HDEL', feedsKey, feed, feed .. ':tail')
  return 1
end
call('HSET', feedsKey, feed, cjson.encode(writer))
return 1
