-- Bring back values that stand beside the queue: seeds, items, counters, feeds and what waits for them.
-- Atomic: a list grows, and a counter rises, by an entry once.
--
-- ARGV: 6 kind, then
--   items: 7… values · stats: 7… names and numbers
--   seeds: 7 key index (1…) · 8 list | set | zset | bad · 9… values, each after its score in a zset
--   feed: 7 feed · 8 its record · 9 sequence of its last item; one that is known stays as it is
--   outbox: 7 feed · 8… items, which go to its end
-- Returns as parts/restoring.lua says. O(n).
-- uses: restoring counters

local kind = ARGV[6]
local refusal = readMeta(unpack(RESTORE_FIELDS))
if refusal then return redis.error_reply(refusal) end
local seedsKey, seedsType
if kind == 'seeds' then
  seedsKey, seedsType = KEYS[FIRST_START_URLS - 1 + tonumber(ARGV[7])], ARGV[8]
  if seedsType == 'bad' then seedsKey, seedsType = seedsKey .. ':bad', 'list' end
  if not isOf(seedsType, seedsKey) then
    return redis.error_reply('WRONGTYPE a start_urls key of this crawl holds another type')
  end
end
if not (isOf('list', itemsKey) and isOf('hash', statsKey)) then
  return redis.error_reply('WRONGTYPE the items or stats key of this crawl holds another type')
end
local isNew, answer = beginEntry()
if not isNew then return answer end

local function values(from)
  local found = {}
  for i = from, #ARGV do found[#found + 1] = ARGV[i] end
  return found
end

if kind == 'items' then
  chunked('RPUSH', itemsKey, values(7))
elseif kind == 'stats' then
  for i = 7, #ARGV, 2 do addToCounter(ARGV[i], tonumber(ARGV[i + 1])) end
elseif kind == 'seeds' then
  chunked(seedsType == 'list' and 'RPUSH' or seedsType == 'set' and 'SADD' or 'ZADD', seedsKey, values(9))
elseif kind == 'feed' then
  if call('HSETNX', feedsKey, ARGV[7], ARGV[8]) == 1 then call('HSET', feedsKey, ARGV[7] .. ':tail', ARGV[9]) end
else
  local sequence, fields = call('HINCRBY', feedsKey, ARGV[7] .. ':tail', #ARGV - 7) - (#ARGV - 7), {}
  for i = 8, #ARGV do
    fields[#fields + 1] = ARGV[7] .. ':' .. string.format('%.0f', sequence + i - 7)
    fields[#fields + 1] = ARGV[i]
  end
  chunked('HSET', outboxKey, fields)
end
saveCounters()
saveMeta()
return 1
