-- Where requests wait: the queue of their domain, among the suspects, or among the delayed.
--
-- They are packed bytes: a million may be pending, and Redis sorts bytes.
--
--   order    12 bytes that sort as the queue does: 5 of rank (2^31 − priority, so that a high priority comes first; 0 under
--            Fifo and Lifo), 7 of arrival in µs (under Lifo 2^53 − arrival)
--   sortKey  order and id: 32 bytes
--   entry    sort key and domain: a member of `ready`, `suspects` and `delayed`
--   member   domain, NUL and sort key: a member of `queue`, so that the requests of a domain are adjacent, best first.
--            No domain contains a NUL (request-columns.ts).
local ID_AT, DOMAIN_AT = 13, 33
local NEWEST = 9007199254740992
-- The longest delay (clamp-values.ts), from now.
local LATEST = 2 ^ 49

function queue.order(crawl, priority, arrival)
  local class = meta.get(crawl, 'queue')
  if class == 'FifoQueue' then return struct.pack('>I5I7', 0, arrival) end
  if class == 'LifoQueue' then return struct.pack('>I5I7', 0, NEWEST - arrival) end
  return struct.pack('>I5I7', 2147483648 - priority, arrival)
end

function queue.orderOf(sortKey) return string.sub(sortKey, 1, ID_AT - 1) end
function queue.idOf(sortKey) return string.sub(sortKey, ID_AT, DOMAIN_AT - 1) end
function queue.sortKeyOf(entry) return string.sub(entry, 1, DOMAIN_AT - 1) end
function queue.domainOf(entry) return string.sub(entry, DOMAIN_AT) end
function queue.memberOf(domain, sortKey) return domain .. '\0' .. sortKey end

-- A request of a domain's queue as it is leased.
function queue.requestOf(domain, sortKey, delay)
  return { id = queue.idOf(sortKey), order = queue.orderOf(sortKey), domain = domain, delay = delay, crashes = 0, record = false }
end

-- Compares two sort keys, or strings that begin with one. Lua's `<` depends on the server's locale.
function queue.isBefore(a, b)
  local rankA, arrivalA = struct.unpack('>I5I7', a)
  local rankB, arrivalB = struct.unpack('>I5I7', b)
  return rankA < rankB or (rankA == rankB and arrivalA < arrivalB)
end

-- The arrival of one more request: now, and later than every other one even if the server clock went back.
function queue.nextArrival(crawl)
  local arrival = math.max(meta.number(crawl, 'arrival') + 1, crawl.nowUs)
  meta.set(crawl, 'arrival', arrival)
  return arrival
end

-- The first sort keys of a domain's queue, up to `count`; only those after the sort key `behind` where it is given.
function queue.sortKeys(crawl, domain, count, behind)
  local from = behind and '(' .. queue.memberOf(domain, behind) or '[' .. domain .. '\0'
  local members = redis.call('ZRANGEBYLEX', crawl.keys.queue, from, '(' .. domain .. '\1', 'LIMIT', '0', lists.digits(count))
  local wanted, unreadable = #domain + DOMAIN_AT, nil
  for i = 1, #members do
    if #members[i] ~= wanted then unreadable = unreadable or {}; unreadable[#unreadable + 1] = members[i] end
    members[i] = string.sub(members[i], #domain + 2)
  end
  if not unreadable then return members end
  reader.noteUnreadable(crawl, lists.send('ZREM', crawl.keys.queue, unreadable))
  return queue.sortKeys(crawl, domain, count, behind)
end

-- Puts a request into the queue of its domain. It is written by domains.save.
function queue.add(crawl, domain, sortKey)
  local d = domains.of(crawl, domain)
  lists.pair(crawl.newMembers, '0', queue.memberOf(domain, sortKey))
  if d.head == '' or queue.isBefore(sortKey, d.head) then
    d.head = sortKey
    domains.markChanged(crawl, d)
  end
end

-- Makes a request pending again. A suspect (crashes > 0) goes to `suspects`, from which it is leased alone.
function queue.makePending(crawl, domain, sortKey, crashes)
  if crashes > 0 then
    redis.call('ZADD', crawl.keys.suspects, crashes, sortKey .. domain)
  else
    queue.add(crawl, domain, sortKey)
  end
end

-- Delays a request until dueMs. It gets a new arrival number when it becomes pending; until then its arrival sorts it among
-- those of the same instant and priority. A repair gives that arrival again; else it is absent.
-- Returns it.
function queue.delay(crawl, domain, priority, id, dueMs, arrival)
  arrival = arrival or queue.nextArrival(crawl)
  local order = struct.pack('>I5I7', 2147483648 - priority, arrival)
  redis.call('ZADD', crawl.keys.delayed, dueMs, order .. id .. domain)
  return arrival
end

-- The entries among these members of `suspects` or `delayed`. The others are removed.
function queue.entriesAmong(crawl, key, members)
  local entries, unreadable = {}, {}
  for _, member in ipairs(members) do
    local list = #member < DOMAIN_AT - 1 and unreadable or entries
    list[#list + 1] = member
  end
  reader.noteUnreadable(crawl, lists.send('ZREM', key, unreadable))
  return entries
end

-- An instant that no delay reaches was written by somebody else: the record says when the request is due, or it is due now.
local function correctInstants(crawl)
  local key = crawl.keys.delayed
  local tooFar = redis.call('ZRANGEBYSCORE', key, '(' .. lists.digits(LATEST), '+inf', 'LIMIT', '0', '200')
  if #tooFar == 0 then return end
  for _, entry in ipairs(queue.entriesAmong(crawl, key, tooFar)) do
    local record = redis.call('HGET', crawl.keys.requests, queue.idOf(entry))
    local _, dueAt = storedRecord.times(record or '')
    redis.call('ZADD', key, dueAt and dueAt > 0 and dueAt or crawl.nowMs, entry)
    reader.noteUnreadable(crawl, 1)
  end
end

-- Makes delayed requests pending that are due, a bounded number.
function queue.promoteDelayed(crawl)
  correctInstants(crawl)
  local due = redis.call('ZRANGEBYSCORE', crawl.keys.delayed, '-inf', lists.digits(crawl.nowMs), 'LIMIT', '0', limits.PROMOTED_AT_ONCE)
  if #due == 0 then return end
  due = queue.entriesAmong(crawl, crawl.keys.delayed, due)
  local ids = {}
  for i, entry in ipairs(due) do ids[i] = queue.idOf(entry) end
  local crashes, stored, accepted = lists.read('HMGET', crawl.keys.crashes, ids), lists.read('HMGET', crawl.keys.requests, ids), {}
  for i, entry in ipairs(due) do
    local priority, arrival = 2147483648 - struct.unpack('>I5', entry), queue.nextArrival(crawl)
    queue.makePending(crawl, queue.domainOf(entry), queue.order(crawl, priority, arrival) .. ids[i], reader.number(crashes[i]) or 0)
    if stored[i] then lists.pair(accepted, ids[i], storedRecord.pack(storedRecord.json(stored[i]), arrival)) end
  end
  lists.send('HSET', crawl.keys.requests, accepted)
  lists.send('ZREM', crawl.keys.delayed, due)
end

-- Pending requests, suspects included.
function queue.pending(crawl)
  return redis.call('ZCARD', crawl.keys.queue) + #crawl.newMembers / 2 + redis.call('ZCARD', crawl.keys.suspects)
end

function queue.isEmpty(crawl)
  return queue.pending(crawl) == 0 and redis.call('ZCARD', crawl.keys.delayed) == 0
end
