-- Register the one writer of a feed file. Atomic: of two writers that start at once, one gets it.
--
-- ARGV: 4 feed · 5 writer JSON { host, path, pid, owner } · 6 stale after ms · 7 fresh (0|1) · 8 owner to displace or ''
-- Returns { 'held', writer JSON } | { 'open', sequence, length, header } | { 'open' } without a checkpoint. O(waiting) when fresh.

local feed, staleMs = ARGV[4], tonumber(ARGV[6])
local known = call('HGET', feedsKey, feed)
local writer = known and cjson.decode(known) or nil
local wanted = cjson.decode(ARGV[5])
if writer and writer.owner and writer.owner ~= wanted.owner and writer.owner ~= ARGV[8] and nowMs - writer.seenMs < staleMs then
  return { 'held', known }
end
if ARGV[7] == '1' then
  local tail = tonumber(call('HGET', feedsKey, feed .. ':tail') or 0)
  local sequence = writer and writer.sequence or 0
  for i = sequence + 1, tail do call('HDEL', outboxKey, feed .. ':' .. string.format('%.0f', i)) end
  call('HDEL', feedsKey, feed .. ':tail')
  writer = nil
end
wanted.seenMs = nowMs
wanted.sequence = writer and writer.sequence or nil
wanted.lengthBytes = writer and writer.lengthBytes or nil
wanted.header = writer and writer.header or nil
call('HSET', feedsKey, feed, cjson.encode(wanted))
if not wanted.sequence then return { 'open' } end
return { 'open', wanted.sequence, wanted.lengthBytes, wanted.header or '' }
