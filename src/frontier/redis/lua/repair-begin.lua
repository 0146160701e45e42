-- First step of a repair: pauses the crawl and forgets every index, so that the records alone say what there is. What
-- is delayed, failed or crashed, and the politeness of domains, is kept where it can be read.
-- Atomic: from here on every token is stale, and nothing is leased before repair-end; a repair that breaks off leaves
-- the crawl paused, and can be begun again.
--
-- ARGV: 4 force (0|1) · 5 queue class and 6 epoch for a new meta
-- Returns { 'begun' } | { 'live', live nodes }. O(domains + delayed + leases).
-- uses: placing guards

if not isOf('hash', metaKey) then call('UNLINK', metaKey) end
createMeta(ARGV[5], ARGV[6])
call('HSETNX', metaKey, 'version', FORMAT)
local numbers = { 'pending', 'accepted', 'done', 'removed', 'arrival', 'domain_numbers', 'run_pages', 'run_items',
  'run_errors', 'run_accepted', 'delay', 'limit', 'node_timeout', 'failed_limit', 'queue_limit' }
for _, name in ipairs(numbers) do
  local value = call('HGET', metaKey, name)
  if value and not tonumber(value) then call('HDEL', metaKey, name) end
end
local refusal = readMeta('control', 'repairing', 'node_timeout', 'limit', 'delay')
if refusal then return redis.error_reply(refusal) end
local live = isOf('zset', nodesKey) and call('ZCOUNT', nodesKey, nowMs - number('node_timeout', 30000), '+inf') or 0
if live > 0 and ARGV[4] ~= '1' then return { 'live', live } end

for _, kept in ipairs({ { 'zset', delayedKey }, { 'zset', failedKey }, { 'hash', failuresKey }, { 'hash', crashesKey },
  { 'hash', domainsKey } }) do
  if not isOf(kept[1], kept[2]) then call('UNLINK', kept[2]) end
end

-- repaired: the ids that stand where they belong.
local known = call('HGETALL', domainsKey)
call('UNLINK', queueKey, chunksKey, domainsKey, readyKey, waitingKey, suspectsKey, leasesKey, nodesKey, deadKey,
  infoKey, heldKey, pagesKey, answersKey, repairedKey)
local misplaced = {}
for _, member in ipairs(call('ZRANGE', delayedKey, 0, -1)) do
  local id = sub(member, 1, 20)
  if #member < 26 or call('HEXISTS', requests, id) == 0 or call('ZSCORE', failedKey, id)
    or call('SADD', repairedKey, id) == 0 then
    misplaced[#misplaced + 1] = member
  end
end
chunked('ZREM', delayedKey, misplaced)

setMeta('domain_numbers', 0)
for i = 1, #known, 2 do
  local isWhole, old, lastAt = pcall(function()
    local d = unpackDomain(known[i], known[i + 1])
    return itsPoliteness(d), d[LAST_AT]
  end)
  if isWhole then
    local d = domainOf(known[i])
    local politeness = itsPoliteness(d)
    for _, field in ipairs({ 'nextAt', 'blockedUntil', 'delaySetting', 'delayRobots', 'delayAuto' }) do
      politeness[field] = min(old[field], nowMs + 86400000)
    end
    d[LAST_AT] = encode('>I6', min(decode('>I6', lastAt), nowMs))
    placeDomain(d)
  end
end

setMeta('repairing', (meta.repairing and meta.repairing ~= '') and meta.repairing or meta.control or 'running')
setMeta('control', 'paused')
setMeta('volunteer', '')
flush()
call('HSET', metaKey, 'pending', 0)
return { 'begun' }
