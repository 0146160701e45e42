-- Register the one writer of a feed file. Atomic: of two writers that start at once, one gets it.
--
-- ARGV: 4 feed · 5 writer JSON { host, path, pid, owner, format } · 6 stale after ms · 7 owner to displace or '' ·
-- 8 forget the checkpoint, unless items wait or an export has not ended (0|1) · 9 the file is overwritten: a flush of
-- the crawl begins it anew, as long as nothing is written from here on (0|1)
-- Returns { 'held', writer JSON } | { 'format', in which it is written so far } | { 'open', sequence, length, header } |
-- { 'open' } without a checkpoint. O(1).
-- uses: feeds

local feed, staleMs = ARGV[4], tonumber(ARGV[6])
local known = call('HGET', feedsKey, feed)
local writer = known and cjson.decode(known) or nil
local wanted = cjson.decode(ARGV[5])
local isOthers = writer and writer.owner and writer.owner ~= wanted.owner
if isOthers and writer.owner ~= ARGV[7] and nowMs - writer.seenMs < staleMs then
  return { 'held', known }
end
local allWritten = writer and isAllWritten(feed, writer)
local wasForgotten = allWritten and isForgotten(feed, writer) and writer.owner ~= wanted.owner
if allWritten and not writer.exporting and (ARGV[8] == '1' or wasForgotten) then
  call('HDEL', feedsKey, feed .. ':tail')
  writer = nil
end
if writer and writer.sequence and writer.format and wanted.format and writer.format ~= wanted.format then
  return { 'format', writer.format }
end
wanted.seenMs, wanted.staleMs = nowMs, staleMs
wanted.forgottenAt = writer and writer.forgottenAt or nil
wanted.sequence = writer and writer.sequence or nil
wanted.lengthBytes = writer and writer.lengthBytes or nil
wanted.header = writer and writer.header or nil
wanted.exporting = writer and writer.exporting or nil
wanted.overwrites = ARGV[9] == '1' and wanted.sequence or nil
call('HSET', feedsKey, feed, cjson.encode(wanted))
if not wanted.sequence then return { 'open' } end
return { 'open', wanted.sequence, wanted.lengthBytes, wanted.header or '' }
