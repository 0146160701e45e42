-- Restore an entry of a backup (entry.ts). What the crawl already has stays as it is.
-- Atomic: an entry is added once, and a request is in one state at any instant and counted once.
--
-- args: restore: id of the restore · entry: number of the entry · kind, and by kind
--   crawl: queueClass · shape: JSON; absent before a first node · starts: by field of meta, how many start requests were
--     pushed, or `pushed` · done, removed, lost · began, seen_since: instants; absent where they are not known
--   requests: requests: { id, domain, priority, arrival (µs), dueAtMs (0: pending), crashes, record }
--   failed: requests: { id, atUs, failure: JSON of why, crashes, record: absent when it was not kept }
--   cookies: changes: { jar, domain, path, name, text, untilMs: absent for none }
--   dupefilter: index: { pieces, seen, slices, filled, allocated } of a BloomDupeFilter, which must be empty
--   bits: pieces: { number, bits }
--   seen: marks · untils: for each the instant it is forgotten, or +inf · lives: for each its entry, for a HASH
--     (dupefilters/state.lua). Both are absent where the backup does not know them.
--   items: values · stats: counters: numbers by name · custom: { name, stored value, … }
--   seeds: key: its number, from 1 · type (list | set | zset | stream | bad) · values, each after its score in a zset
--   feed: feed · record: its JSON · last: number of its last item
--   outbox: feed · values, which go to its end
-- Returns 1; 0 for an entry that is in the crawl already, since the reply of an earlier call was lost; -1 when this restore is
--   not under way: meta.restoring is the id of the one that is, meta.restored the number of its last entry.
--   O(n log m) for n values, m pending requests.
local ADD = { list = 'RPUSH', set = 'SADD', zset = 'ZADD' }

-- Whether a request is in the crawl. Beyond FAILED_LIMIT a failed one has no record.
local function isLive(crawl, id)
  return redis.call('HEXISTS', crawl.keys.requests, id) == 1 or redis.call('ZSCORE', crawl.keys.failed, id)
end

-- The start requests that were pushed, here or there: the larger number.
local function mergeStart(crawl, field, start)
  if meta.get(crawl, field) == 'pushed' then return end
  if start == 'pushed' or start > meta.number(crawl, field) then meta.set(crawl, field, start) end
end

-- The key that seeds go to, and its type.
local function seedsKey(crawl, args)
  local startUrls = crawl.startUrls[args.key]
  if args.type == 'bad' then return startUrls.bad, 'list' end
  return startUrls.key, args.type
end

local restore = {}

-- A shape that is already set stays, and the earlier beginning.
function restore.crawl(crawl, args)
  if args.shape and not meta.get(crawl, 'shape') and queue.pending(crawl) == 0 then
    meta.set(crawl, 'shape', args.shape)
    meta.set(crawl, 'queue', args.queueClass)
  end
  for field, start in pairs(args.starts) do mergeStart(crawl, field, start) end
  for _, name in ipairs({ 'done', 'removed', 'lost' }) do
    meta.add(crawl, name, args[name])
    meta.add(crawl, 'accepted', args[name])
  end
  for _, name in ipairs({ 'began', 'seen_since' }) do
    if args[name] then meta.set(crawl, name, math.min(meta.number(crawl, name, crawl.nowMs), args[name])) end
  end
end

-- Pending requests keep their arrivals, and delayed ones their due times.
function restore.requests(crawl, args)
  local latest = meta.number(crawl, 'arrival')
  for _, request in ipairs(args.requests) do
    local id = request.id
    if not isLive(crawl, id) then
      if request.crashes > 0 then redis.call('HSET', crawl.keys.crashes, id, request.crashes) end
      local dueAt, arrival = math.ceil(request.dueAtMs), request.arrival
      if dueAt > 0 then
        arrival = queue.delay(crawl, request.domain, request.priority, id, dueAt)
      else
        latest = math.max(latest, arrival)
        local sortKey = queue.order(crawl, request.priority, arrival) .. id
        queue.makePending(crawl, request.domain, sortKey, request.crashes)
      end
      redis.call('HSET', crawl.keys.requests, id, storedRecord.pack(request.record, arrival, dueAt))
      meta.add(crawl, 'accepted', 1)
    end
  end
  -- Later arrivals sort after the restored ones, even if the backup's clock was ahead.
  meta.set(crawl, 'arrival', math.max(latest, meta.number(crawl, 'arrival')))
end

function restore.failed(crawl, args)
  local at = crawl.keys
  for _, request in ipairs(args.requests) do
    local id = request.id
    if not isLive(crawl, id) then
      redis.call('ZADD', at.failed, request.atUs, id)
      redis.call('HSET', at.failures, id, request.failure)
      if request.crashes > 0 then redis.call('HSET', at.crashes, id, request.crashes) end
      if request.record then redis.call('HSET', at.requests, id, storedRecord.pack(request.record, request.atUs)) end
      meta.add(crawl, 'accepted', 1)
    end
  end
end

function restore.cookies(crawl, args)
  cookies.add(crawl, args.changes)
  cookies.save(crawl)
end

function restore.dupefilter(crawl, args)
  local index = pieces.begin(crawl)
  marks.add(crawl, args.index.seen - index.seen)
  for name, number in pairs(args.index) do index[name] = number end
  pieces.save(crawl)
end

function restore.bits(crawl, args)
  local prefix = pieces.index(crawl).prefix
  for _, piece in ipairs(args.pieces) do redis.call('SET', prefix .. piece[1], piece[2]) end
end

-- Fingerprints that have expired since the backup are left out.
function restore.seen(crawl, args)
  local untils = args.untils and {}
  local found = args.untils and {} or args.marks
  for i, instant in ipairs(args.untils or {}) do
    if tonumber(instant) > crawl.nowMs then
      table.insert(untils, instant)
      table.insert(found, args.marks[i])
    end
  end
  local class = dupefilters.of(crawl)
  marks.add(crawl, class.restore and class.restore(crawl, found, untils, args.lives) or class.record(crawl, found))
end

function restore.items(crawl, args) lists.send('RPUSH', crawl.keys.items, args.values) end

function restore.stats(crawl, args)
  for name, amount in pairs(args.counters) do counters.add(crawl, name, amount) end
  customStats.restore(crawl, args.custom)
end

function restore.seeds(crawl, args)
  local key, type = seedsKey(crawl, args)
  if type ~= 'stream' then return lists.send(ADD[type], key, args.values) end
  for _, value in ipairs(args.values) do redis.call('XADD', key, '*', 'data', value) end
end

function restore.feed(crawl, args)
  if redis.call('HSETNX', crawl.keys.feeds, args.feed, args.record) == 1 then
    redis.call('HSET', crawl.keys.feeds, args.feed .. ':tail', args.last)
  end
end

function restore.outbox(crawl, args) feeds.append(crawl, { args.feed }, args.values) end

verbs.register('restore_entry', { 'crawl', 'accepts' }, function(crawl, args)
  if meta.get(crawl, 'restoring') ~= args.restore then return -1 end
  if meta.number(crawl, 'restored') >= args.entry then return 0 end
  if args.kind == 'seeds' then
    local key, type = seedsKey(crawl, args)
    if not keys.isOf(type, key) then verbs.refuse('WRONGTYPE a start_urls key of this crawl holds another type') end
  end
  restore[args.kind](crawl, args)
  meta.set(crawl, 'restored', args.entry)
  return 1
end)
