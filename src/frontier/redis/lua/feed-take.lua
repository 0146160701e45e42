-- Move the first items of the items list to the end of a feed's outbox, for its writer to put into a file.
-- Atomic: an item is in the list or in the outbox, never in both and never in neither. From here on an export has
-- begun, until its writer releases the feed as exported: nobody begins the file anew in between.
--
-- ARGV: 4 feed · 5 owner · 6 how many at most
-- Returns how many, or -1 when the feed has another owner by now, or was forgotten. O(items moved).
-- uses: guards answers

local feed, most = ARGV[4], tonumber(ARGV[6])
local known = call('HGET', feedsKey, feed)
local writer = known and cjson.decode(known)
if not writer or writer.owner ~= ARGV[5] then return -1 end
if not isOf('list', itemsKey) then
  return redis.error_reply('WRONGTYPE the items key of this crawl holds another type')
end
local first = firstAnswer()
if first then return tonumber(first) end
-- Exporting is how a full store gets room again.
confirmArrived()

local items = most > 0 and call('LRANGE', itemsKey, 0, most - 1) or {}
if #items > 0 then
  local sequence = call('HINCRBY', feedsKey, feed .. ':tail', #items) - #items
  local fields = {}
  for i, item in ipairs(items) do
    fields[2 * i - 1] = feed .. ':' .. string.format('%.0f', sequence + i)
    fields[2 * i] = item
  end
  chunked('HSET', outboxKey, fields)
  call('LTRIM', itemsKey, #items, -1)
end
writer.exporting, writer.seenMs = true, nowMs
call('HSET', feedsKey, feed, cjson.encode(writer))
keepAnswer(#items)
return #items
