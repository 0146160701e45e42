-- Shared by every script: the keys, the clock, the meta record, the domains and the acceptance of requests.
-- It is put in front of each verb's file, which then is one script and so one atomic step.
--
-- KEYS, the same for all: 1 requests HASH id → record · 2 dupefilter · 3 items LIST · 4 stats HASH · 5… start_urls
-- Every other key is requests .. ':~' .. word (one slot in Cluster, since they share the hash tag).
-- ARGV, the same for all: 1 caller (an incarnation, or a client that never joined) · 2 call number, unique per
-- caller · 3 call numbers whose answers have arrived, separated by commas (to a verb that confirms) · then the verb's own.
--
-- An id is 20 raw bytes. An order is 12 bytes that sort as the queue does: 5 of priority, 7 of arrival (µs).
-- A queue member is 4 bytes of domain number, the order, the id: one ZSET of equal scores holds every domain's
-- queue, and a range by prefix finds a domain's head in O(log n). A pending request of one domain takes some 346 bytes,
-- all told, with the jemalloc of Debian's Redis (a quantum of 16 bytes); it is the allocator that decides.

local call = redis.call
local sub, floor = string.sub, math.floor
local requests, dupefilter, itemsKey, statsKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local FIRST_START_URLS = 5

local function internal(word) return requests .. ':~' .. word end
local metaKey = internal('meta') -- HASH, see DESIGN §5 "Shared record of the run"
local queueKey = internal('queue') -- ZSET of 0: domain number, order, id
local domainsKey = internal('domains') -- HASH name → domain record
local readyKey = internal('ready') -- ZSET of 0: order of the domain's head, name
local waitingKey = internal('waiting') -- ZSET time → name
local delayedKey = internal('delayed') -- ZSET time → id, 5 bytes of priority, domain name
local suspectsKey = internal('suspects') -- ZSET of 0: order, id, domain name
local leasesKey = internal('leases') -- HASH id → lease
local nodesKey = internal('nodes') -- ZSET last heartbeat → incarnation, the live ones
local deadKey = internal('dead') -- ZSET time → incarnation whose leases are being moved
local infoKey = internal('node-info') -- HASH incarnation → JSON
local heldKey = internal('held') -- HASH incarnation → leases
local pagesKey = internal('pages') -- HASH incarnation → pages settled
local crashesKey = internal('crashes') -- HASH id → crashes
local failedKey = internal('failed') -- ZSET time in µs → id
local failuresKey = internal('failures') -- HASH id → JSON: why it failed
local answersKey = internal('answers') -- HASH caller:call → answer not yet known to have arrived
local feedsKey = internal('feeds') -- HASH feed → JSON, feed:head and feed:tail → sequence
local outboxKey = internal('outbox') -- HASH feed:sequence → JSON item

local FORMAT = '1'
local MAX_CRASHES = 3
local MAX_UNPACK = 4000

local time = call('TIME')
local nowMs = time[1] * 1000 + floor(time[2] / 1000)
local nowUs = time[1] * 1000000 + time[2]

-- ── Meta ────────────────────────────────────────────────────────────────────────────────────────────────────

local meta, changedMeta = {}, {}

-- Reads the named fields; returns an error text when the records are gone or of another format.
local function readMeta(...)
  local values = call('HMGET', metaKey, 'version', ...)
  if not values[1] then return 'CRAWLNODE_GONE the records of this crawl are gone' end
  if values[1] ~= FORMAT then return 'CRAWLNODE_FORMAT ' .. values[1] end
  for i, name in ipairs({ ... }) do meta[name] = values[i + 1] end
  return nil
end

-- The first to touch a crawl makes its meta; the shape comes with the first node to join. A node that has joined gives
-- no epoch: it makes none, since a meta gone under it means that somebody reset the crawl or flushed the store.
-- crawl: tells this crawl from one of the same name before a reset.
local function createMeta(queue, epoch)
  if epoch == '' or call('EXISTS', metaKey) == 1 then return end
  call('HSET', metaKey, 'version', FORMAT, 'epoch', epoch, 'crawl', epoch, 'queue', queue, 'control', 'running')
end

local function number(name, default) return tonumber(meta[name] or default or 0) end

local function setMeta(name, value)
  meta[name] = value
  changedMeta[name] = value
end

local function isLive(incarnation) return call('ZSCORE', nodesKey, incarnation) end

-- What a node that is not live is told: that it is dead, or that the crawl it was in is not this one.
local function deathIn(crawl)
  if call('HGET', metaKey, 'crawl') ~= crawl then return 'CRAWLNODE_GONE another crawl of this name has begun' end
  return 'CRAWLNODE_DEAD this node was declared dead'
end

-- Incarnations that fell silent are dead from now on: their tokens have no effect.
local function markDead()
  local timeoutMs = number('node_timeout', 30000)
  -- A heartbeat from the future is a clock that jumped back (a failover): it counts from now.
  for _, incarnation in ipairs(call('ZRANGEBYSCORE', nodesKey, '(' .. string.format('%.0f', nowMs + timeoutMs), '+inf')) do
    call('ZADD', nodesKey, nowMs, incarnation)
  end
  for _, incarnation in ipairs(call('ZRANGEBYSCORE', nodesKey, '-inf', nowMs - timeoutMs)) do
    call('ZREM', nodesKey, incarnation)
    call('ZADD', deadKey, nowMs, incarnation)
    if meta.volunteer == incarnation then setMeta('volunteer', '') end
  end
end

-- ── A store that is full, or whose keys hold something else ───────────────────────────────────────────────────
-- With maxmemory reached Redis refuses a script's first writing command if it may need memory, and none after it.
-- So a script that must go on all the same writes nothing first; one that must wait asks for memory first.

local function evenWhenFull() call('HDEL', answersKey, '') end

local function unlessFull() call('HSETNX', metaKey, 'version', FORMAT) end

local function isOf(type, key)
  local found = call('TYPE', key).ok
  return found == 'none' or found == type
end

-- An error half-way would leave a half-written verb, so what may fail is asked first.
local function refuseForeign()
  if isOf('set', dupefilter) and isOf('list', itemsKey) and isOf('hash', statsKey) then return nil end
  return 'WRONGTYPE the dupefilter, items or stats key of this crawl holds another type'
end

-- A counter that somebody overwrote with text must not keep a page from being committed.
local function addToCounter(name, n) redis.pcall('HINCRBY', statsKey, name, n) end

-- ── Answers: a call sent again gets its first answer and does nothing ─────────────────────────────────────────

local function confirmArrived()
  for callNumber in string.gmatch(ARGV[3], '[^,]+') do call('HDEL', answersKey, ARGV[1] .. ':' .. callNumber) end
end

local function firstAnswer() return call('HGET', answersKey, ARGV[1] .. ':' .. ARGV[2]) end

local function keepAnswer(answer) call('HSET', answersKey, ARGV[1] .. ':' .. ARGV[2], answer) end

-- ── Domains ─────────────────────────────────────────────────────────────────────────────────────────────────
-- Record: { number, active, nextAt, blockedUntil, delay by setting (-1: the crawl's), by robots, by autothrottle,
-- pages, place, key, last lease at }. place: r ready (key: its order there), w waiting, f full, i idle.

local domains = {}

local function domainOf(name)
  local d = domains[name]
  if d then return d end
  local packed = call('HGET', domainsKey, name)
  if packed then
    local p = cmsgpack.unpack(packed)
    -- An instant further away than a day is a clock that jumped (a failover): it must block nothing.
    d = { number = p[1], active = p[2], nextAt = math.min(p[3], nowMs + 86400000), blockedUntil = math.min(p[4], nowMs + 86400000),
      delaySetting = p[5], delayRobots = p[6], delayAuto = p[7], pages = p[8], place = p[9], key = p[10], lastAt = math.min(p[11] or 0, nowMs) }
  else
    local last = number('domain_numbers') + 1
    setMeta('domain_numbers', last)
    d = { number = last, active = 0, nextAt = 0, blockedUntil = 0, delaySetting = -1, delayRobots = 0, delayAuto = 0, pages = 0, place = 'i', key = '', lastAt = 0 }
  end
  d.prefix = struct.pack('>I4', d.number)
  domains[name] = d
  return d
end

-- The first `count` members of the domain's queue.
local function heads(d, count)
  return call('ZRANGEBYLEX', queueKey, '[' .. d.prefix, '(' .. struct.pack('>I4', d.number + 1), 'LIMIT', 0, count)
end

local function moveTo(name, d, place, key, at)
  if d.place == 'r' and (place ~= 'r' or key ~= d.key) then call('ZREM', readyKey, d.key .. name) end
  if d.place == 'w' and place ~= 'w' then call('ZREM', waitingKey, name) end
  if place == 'r' and (d.place ~= 'r' or key ~= d.key) then call('ZADD', readyKey, 0, key .. name) end
  if place == 'w' then call('ZADD', waitingKey, at, name) end
  d.place, d.key = place, place == 'r' and key or ''
end

-- Puts a domain where it belongs. head: the order of its best request, false when it has none, nil to look.
local function place(name, d, head)
  if head == nil then
    local member = heads(d, 1)[1]
    head = member and sub(member, 5, 16) or false
  end
  d.touched, d.gone = true, false
  local at = math.max(d.nextAt, d.blockedUntil)
  if head and d.active >= number('limit', 8) then return moveTo(name, d, 'f') end
  if at > nowMs then return moveTo(name, d, 'w', nil, at) end
  if head then return moveTo(name, d, 'r', head) end
  moveTo(name, d, 'i')
  -- A domain with a delay of its own is kept: forgetting it would forget the politeness.
  d.gone = d.active == 0 and d.delaySetting < 0 and d.delayRobots == 0 and d.delayAuto == 0
end

local function delayOf(d)
  local own = d.delaySetting >= 0 and d.delaySetting or number('delay')
  return math.max(own, d.delayRobots, d.delayAuto)
end

-- ── Queue ───────────────────────────────────────────────────────────────────────────────────────────────────

local function takeArrival()
  local arrival = math.max(number('arrival') + 1, nowUs)
  setMeta('arrival', arrival)
  return arrival
end

local NO_PRIORITY = '\0\0\0\0\0'

-- priority: 5 bytes of 2^31 - priority, so that a higher one sorts first.
local function orderOf(priority, arrival)
  if meta.queue == 'FifoQueue' then return NO_PRIORITY .. struct.pack('>I7', arrival) end
  if meta.queue == 'LifoQueue' then return NO_PRIORITY .. struct.pack('>I7', 9007199254740992 - arrival) end
  return priority .. struct.pack('>I7', arrival)
end

local function enqueue(name, order, id)
  local d = domainOf(name)
  call('ZADD', queueKey, 0, d.prefix .. order .. id)
  if d.place == 'i' then
    place(name, d, order)
  elseif d.place == 'r' and order < d.key then
    moveTo(name, d, 'r', order)
    d.touched = true
  end
end

-- Suspects wait apart from the domain queues, and are leased alone.
local function requeue(name, order, id, crashes)
  if crashes > 0 then
    call('ZADD', suspectsKey, 0, order .. id .. name)
  else
    enqueue(name, order, id)
  end
end

local function park(name, priority, id, dueMs) call('ZADD', delayedKey, dueMs, id .. priority .. name) end

-- Writes what the script changed; every verb that may change something ends with it.
local function flush()
  local pairsToSet, toDelete = {}, {}
  for name, d in pairs(domains) do
    if d.touched then
      if d.gone then
        toDelete[#toDelete + 1] = name
      else
        pairsToSet[#pairsToSet + 1] = name
        pairsToSet[#pairsToSet + 1] = cmsgpack.pack({ d.number, d.active, d.nextAt, d.blockedUntil, d.delaySetting, d.delayRobots, d.delayAuto, d.pages, d.place, d.key, d.lastAt })
      end
    end
  end
  for i = 1, #pairsToSet, MAX_UNPACK do call('HSET', domainsKey, unpack(pairsToSet, i, math.min(i + MAX_UNPACK - 1, #pairsToSet))) end
  for i = 1, #toDelete, MAX_UNPACK do call('HDEL', domainsKey, unpack(toDelete, i, math.min(i + MAX_UNPACK - 1, #toDelete))) end
  local fields = {}
  for name, value in pairs(changedMeta) do
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  if #fields > 0 then call('HSET', metaKey, unpack(fields)) end
end

-- ── Acceptance ──────────────────────────────────────────────────────────────────────────────────────────────
-- A batch is ARGV[at] ids (20 bytes each) · ARGV[at+1] fingerprints (40 hex each) · ARGV[at+2] 14 bytes each: 5 of
-- priority, 2 domain index, 1 unfiltered, 6 delay in ms · ARGV[at+3] domain names, each followed by a NUL ·
-- records from ARGV[recordsAt] on.

local ACCEPT_FIELDS = { 'queue', 'arrival', 'domain_numbers', 'limit', 'accepted', 'run_accepted' }

local function chunked(command, key, values)
  for i = 1, #values, MAX_UNPACK do call(command, key, unpack(values, i, math.min(i + MAX_UNPACK - 1, #values))) end
end

local function seenFlags(fingerprints, count)
  local flags = {}
  for i = 0, count - 1, MAX_UNPACK do
    local chunk = {}
    for j = i, math.min(i + MAX_UNPACK, count) - 1 do chunk[#chunk + 1] = sub(fingerprints, j * 40 + 1, j * 40 + 40) end
    for _, flag in ipairs(call('SMISMEMBER', dupefilter, unpack(chunk))) do flags[#flags + 1] = flag end
  end
  return flags
end

-- Brings a failed request back with the record of the seed that asks for it.
local function revive(id, record)
  if call('ZREM', failedKey, id) == 0 then return false end
  call('HDEL', failuresKey, id)
  call('HDEL', crashesKey, id)
  call('HSET', requests, id, record)
  return true
end

-- kind: links pass the dupefilter; seeds do not, unless filtered, and are recorded all the same.
local function accept(at, recordsAt, size, kind)
  if size == 0 then return 0, 0 end
  local ids, fingerprints, numbers = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local names = {}
  for name in string.gmatch(ARGV[at + 3], '([^%z]*)%z') do names[#names + 1] = name end
  local judged = kind == 'links' or kind == 'seeds-filtered'
  local seen = judged and seenFlags(fingerprints, size) or nil
  local records, recorded, taken = {}, {}, {}
  local accepted, fresh = 0, 0
  -- Beyond FAILED_LIMIT a failed request has no record any more, and is live all the same.
  local anyFailed = call('ZCARD', failedKey) > 0
  for i = 1, size do
    local unfiltered = string.byte(numbers, i * 14 - 6) == 1
    if unfiltered or not judged or seen[i] == 0 then
      local id = sub(ids, i * 20 - 19, i * 20)
      local record = ARGV[recordsAt + i - 1]
      local live = taken[id] or call('HEXISTS', requests, id) == 1 or (anyFailed and call('ZSCORE', failedKey, id))
      local revived = live and not taken[id] and kind ~= 'links' and revive(id, record)
      if revived or not live then
        taken[id] = true
        accepted = accepted + 1
        if not revived then
          fresh = fresh + 1
          records[#records + 1] = id
          records[#records + 1] = record
        end
        if not unfiltered then recorded[#recorded + 1] = sub(fingerprints, i * 40 - 39, i * 40) end
        local priority = sub(numbers, i * 14 - 13, i * 14 - 9)
        local index, _, delayMs = struct.unpack('>I2I1I6', numbers, i * 14 - 8)
        if delayMs > 0 then
          park(names[index + 1], priority, id, nowMs + delayMs)
        else
          enqueue(names[index + 1], orderOf(priority, takeArrival()), id)
        end
      end
    end
  end
  chunked('HSET', requests, records)
  chunked('SADD', dupefilter, recorded)
  if fresh > 0 then setMeta('accepted', number('accepted') + fresh) end
  if accepted > 0 then
    setMeta('run_accepted', number('run_accepted') + accepted)
    addToCounter('scheduler/enqueued', accepted)
  end
  if accepted < size then addToCounter('dupefilter/filtered', size - accepted) end
  return accepted, size - accepted
end

-- ── Leases ──────────────────────────────────────────────────────────────────────────────────────────────────

local function packLease(lease) return cmsgpack.pack({ lease.token, lease.incarnation, lease.order, lease.domain, lease.atMs, lease.crashes, lease.priority }) end

local function unpackLease(packed)
  local p = cmsgpack.unpack(packed)
  return { token = p[1], incarnation = p[2], order = p[3], domain = p[4], atMs = p[5], crashes = p[6], priority = p[7] }
end

-- Ends a lease's hold on its node and its domain; what becomes of the request is the verb's business.
local function freeLease(id, lease)
  call('HDEL', leasesKey, id)
  call('HINCRBY', heldKey, lease.incarnation, -1)
  local d = domainOf(lease.domain)
  d.active = math.max(0, d.active - 1)
  return d
end

-- A lease goes back to pending as it was, uncounted: its arrival stays.
local function giveBack(id, lease)
  local d = freeLease(id, lease)
  requeue(lease.domain, lease.order, id, lease.crashes)
  place(lease.domain, d)
end

local function fail(id, failure)
  call('ZADD', failedKey, nowUs, id)
  call('HSET', failuresKey, id, failure)
  if call('ZCARD', failedKey) > number('failed_limit', 100000) then call('HDEL', requests, id) end
end

-- The leases of an incarnation, up to `max` of them, by a walk over all: leases are few (nodes × concurrency).
local function leasesOf(incarnation, max)
  local found, cursor = {}, '0'
  repeat
    local page = call('HSCAN', leasesKey, cursor, 'COUNT', 500)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local lease = unpackLease(page[2][i + 1])
      if lease.incarnation == incarnation and #found < max then found[#found + 1] = { page[2][i], lease } end
    end
  until cursor == '0' or #found >= max
  return found
end

-- Forgets a node whose leases are all ended.
local function dropIncarnation(incarnation)
  call('ZREM', nodesKey, incarnation)
  call('ZREM', deadKey, incarnation)
  call('HDEL', infoKey, incarnation)
  call('HDEL', heldKey, incarnation)
  call('HDEL', pagesKey, incarnation)
  for _, field in ipairs(call('HKEYS', answersKey)) do
    if sub(field, 1, #incarnation + 1) == incarnation .. ':' then call('HDEL', answersKey, field) end
  end
end

-- A new job begins its files anew; a feed whose items still wait to be written is kept, and so is its checkpoint.
local function forgetWrittenFeeds()
  for _, field in ipairs(call('HKEYS', feedsKey)) do
    if sub(field, -5) ~= ':tail' then
      local sequence = cjson.decode(call('HGET', feedsKey, field)).sequence or 0
      local tail = tonumber(call('HGET', feedsKey, field .. ':tail') or 0)
      if sequence >= tail then call('HDEL', feedsKey, field, field .. ':tail') end
    end
  end
end

-- The budget is used up and nothing is leased that could give a page back: the run closes.
local function closeWhenSpent()
  local budget = number('max_pages')
  if budget == 0 or number('run_pages') < budget or (meta.closing and meta.closing ~= '') then return end
  if call('HLEN', leasesKey) > 0 then return end
  setMeta('closing', 'closespider_pagecount')
  setMeta('closed_at', nowMs)
  setMeta('closed_pages', budget)
end

local function seedsWaiting()
  local total = 0
  for i = FIRST_START_URLS, #KEYS do
    local kind = call('TYPE', KEYS[i]).ok
    if kind == 'list' then total = total + call('LLEN', KEYS[i])
    elseif kind == 'set' then total = total + call('SCARD', KEYS[i])
    elseif kind == 'zset' then total = total + call('ZCARD', KEYS[i]) end
  end
  return total
end

-- True completion, decided here and nowhere else.
local function isFinished(seeds)
  return seeds == 0 and meta.control == 'running' and (meta.has_start ~= '1' or meta.start == 'pushed')
    and call('ZCARD', queueKey) == 0 and call('ZCARD', delayedKey) == 0 and call('HLEN', leasesKey) == 0
    and call('ZCARD', suspectsKey) == 0
end
