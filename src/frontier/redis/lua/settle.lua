-- End leases and commit their effects: of each its items, discovered requests, counters and the acknowledgement in one
-- step, or nothing. Each is judged by itself; they travel together because most of a call's cost is the call.
-- Atomic: this is what makes a page commit once; a stale token changes nothing.
--
-- ARGV: 4 how many · 5 feeds and 6 names of counters, each followed by a NUL · then for each settle:
--   head: id (20 bytes), kind (1: d done, t retry, f failed, r released), retry: after ms, released: 1 when unstarted
--     (6), HTTP status or 0 and attempts (2 each), priority of a retry (5), how many counters, requests, items and feed
--     items (2 each), token
--   retry: record; failed: JSON of why; '' otherwise
--   epoch the sender's cache was judged under, '' when nothing was withheld
--   counters: number of the name (2 bytes) and value (8, a double) of each
--   the batch (see parts/acceptance.lua), only with requests · items · feed items
-- Its answer is kept by its token, as a settle that is sent again may travel with others.
-- Returns for each a text: 'committed', accepted, duplicates, dropped, how many links are not seen, epoch | 'lost' |
-- 'resend' | 'closed': the run's item budget was used up before this page with its items came, so its request is pending
-- again. O(n log m).
-- uses: nodes answers acceptance leases

local incarnation = ARGV[1]

local refusal = readMeta('epoch', 'delay', 'failed_limit', 'done', 'run_pages', 'budgets', 'closing', unpack(ACCEPT_FIELDS)) or refuseForeign()
if refusal then return redis.error_reply(refusal) end
evenWhenFull()
confirmArrived()

-- All of them, each with its first answer if it has one, and its packed lease.
local function readSettles()
  local KINDS = { d = 'done', t = 'retry', f = 'failed', r = 'released' }
  local HEAD_BYTES = 44
  local settles, fields, ids, at = {}, {}, {}, 7
  for n = 1, tonumber(ARGV[4]) do
    local s = { at = at }
    s.id, s.kind, s.amount, s.how, s.priority, s.counters, s.requests, s.items, s.feedItems = struct.unpack('>c20c1I6c4c5I2I2I2I2', ARGV[at])
    s.kind, s.token = KINDS[s.kind], sub(ARGV[at], HEAD_BYTES + 1)
    s.field = incarnation .. ':s' .. s.token
    s.itemsAt = at + 4 + (s.requests > 0 and BATCH or 0)
    s.feedItemsAt = s.itemsAt + s.items
    at = s.feedItemsAt + s.feedItems
    settles[n], ids[n], fields[n] = s, s.id, s.field
  end
  for n, answer in ipairs(fetched('HMGET', answersKey, fields)) do settles[n].answer = answer end
  for n, packed in ipairs(fetched('HMGET', leasesKey, ids)) do settles[n].packed = packed end
  return settles
end

local live, names = isLive(incarnation), namesOf(ARGV[6])
local committed = { items = {}, feedItems = {}, uncrashed = {}, pages = 0 }

-- Returns its counters { name, value… }, and what the budgets are to know of them.
local function countersOf(s)
  local list, packed = {}, ARGV[s.at + 3]
  local scraped, errors = 0, 0
  for i = 0, s.counters - 1 do
    local index, value = struct.unpack('>I2d', packed, i * 10 + 1)
    local name = names[index + 1]
    list[#list + 1] = name
    list[#list + 1] = value
    if name == 'item_scraped_count' then scraped = math.max(0, value) end
    if name == 'spider_exceptions/count' then errors = math.max(0, value) end
  end
  return list, scraped, errors
end

local function finish(s, lease)
  freeLease(s.id, lease)
  noteLife(s.id, s.kind, s.how)
  if s.kind == 'done' then
    ended[s.id] = true
    setMeta('done', number('done') + 1)
    if lease.crashes > 0 then committed.uncrashed[#committed.uncrashed + 1] = s.id end
  elseif s.kind == 'retry' then
    call('HSET', requests, s.id, ARGV[s.at + 1])
    park(lease.domain, s.priority, s.id, nowMs + s.amount)
  else
    fail(s.id, ARGV[s.at + 1])
  end
  if s.kind ~= 'retry' then committed.pages = committed.pages + 1 end
end

local function settle(s)
  local lease = s.packed and unpackLease(s.packed)
  if not lease or lease.token ~= s.token or lease.incarnation ~= incarnation or not live then return 'lost' end
  local epoch = ARGV[s.at + 2]
  if epoch ~= '' and epoch ~= meta.epoch then return 'resend' end
  local list, scraped, errors = countersOf(s)
  if comesTooLate(scraped) then
    giveBack(s.id, lease)
    return 'closed'
  end
  local accepted, duplicates, dropped, unseen = accept(s.at + 4, s.requests, 'links')
  if s.kind == 'released' then
    giveBack(s.id, lease)
    if s.amount == 1 then setMeta('run_pages', math.max(0, number('run_pages') - 1)) end
  else
    finish(s, lease)
  end
  countForBudgets(scraped, errors)
  for i = 1, #list, 2 do addToCounter(list[i], list[i + 1]) end
  for i = s.itemsAt, s.feedItemsAt - 1 do committed.items[#committed.items + 1] = ARGV[i] end
  for i = s.feedItemsAt, s.feedItemsAt + s.feedItems - 1 do committed.feedItems[#committed.feedItems + 1] = ARGV[i] end
  return table.concat({ 'committed', accepted, duplicates, dropped, unseen, meta.epoch }, ' ')
end

local function saveFeedItems(items)
  for _, feed in ipairs(namesOf(ARGV[5])) do
    local sequence, fields = call('HINCRBY', feedsKey, feed .. ':tail', #items) - #items, {}
    for i, item in ipairs(items) do
      fields[2 * i - 1] = feed .. ':' .. string.format('%.0f', sequence + i)
      fields[2 * i] = item
    end
    chunked('HSET', outboxKey, fields)
  end
end

local function saveCommitted()
  local done = {}
  for id in pairs(ended) do done[#done + 1] = id end
  chunked('HDEL', requests, done)
  chunked('HDEL', crashesKey, committed.uncrashed)
  if committed.pages > 0 then call('HINCRBY', pagesKey, incarnation, committed.pages) end
  saveLeases()
  closeWhenSpent()
  saveCounted()
  chunked('RPUSH', itemsKey, committed.items)
  if #committed.feedItems > 0 then saveFeedItems(committed.feedItems) end
end

-- Where two of a call bear one token, the second is the first one sent again.
local answers, kept, answered = {}, {}, {}
for n, s in ipairs(readSettles()) do
  local answer = s.answer or answered[s.field]
  if not answer then
    answer = settle(s)
    -- What changed nothing is judged anew.
    if answer ~= 'lost' and answer ~= 'resend' then
      answered[s.field] = answer
      kept[#kept + 1] = s.field
      kept[#kept + 1] = answer
    end
  end
  answers[n] = answer
end
saveCommitted()
chunked('HSET', answersKey, kept)
flush()
return answers
