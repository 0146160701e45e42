-- End leases and commit their effects: of each its items, discovered requests, counters and the acknowledgement in one
-- step, or nothing. Each is judged by itself; they travel together because most of a call's cost is the call.
-- Atomic: this is what makes a page commit once; a stale token changes nothing.
--
-- ARGV: 4 how many · 5 feeds and 6 names of counters, each followed by a NUL · then for each settle:
--   head: id (20 bytes), kind (1: d done, t retry, f failed, r released), retry: after ms, released: 1 when unstarted
--     (6), HTTP status or 0 and attempts (2 each), priority of a retry (5), how many requests, items and feed items
--     (2 each), what the budgets are to know of the counters: items scraped and errors (6 each), token
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

local HEAD, HEAD_BYTES = '>c20c1I6c4c5I2I2I2I6I6', 54

-- All of them, each with its first answer or its lease if it has one. All fields of a table are given at once: one that
-- grows costs as much again.
local function readSettles()
  local KINDS = { d = 'done', t = 'retry', f = 'failed', r = 'released' }
  local settles, fields, ids, domainNames, at = {}, {}, {}, {}, 7
  for n = 1, tonumber(ARGV[4]) do
    local id, kind, amount, how, priority, links, items, feedItems, scraped, errors = struct.unpack(HEAD, ARGV[at])
    local token = sub(ARGV[at], HEAD_BYTES + 1)
    local itemsAt = at + 4 + (links > 0 and BATCH or 0)
    local feedItemsAt = itemsAt + items
    ids[n], fields[n] = id, incarnation .. ':s' .. token
    settles[n] = { at = at, id = id, kind = KINDS[kind], amount = amount, how = how, priority = priority, links = links, itemsAt = itemsAt,
      feedItemsAt = feedItemsAt, endsAt = feedItemsAt + feedItems, scraped = scraped, errors = errors, token = token, field = fields[n],
      answer = false, lease = false }
    at = feedItemsAt + feedItems
  end
  for n, answer in ipairs(fetched('HMGET', answersKey, fields)) do settles[n].answer = answer end
  for n, packed in ipairs(fetched('HMGET', leasesKey, ids)) do
    if packed then
      settles[n].lease = unpackLease(packed)
      domainNames[#domainNames + 1] = settles[n].lease.domain
    end
  end
  loadDomains(domainNames)
  return settles
end

local live, names = isLive(incarnation), namesOf(ARGV[6])
local committed = { items = {}, feedItems = {}, uncrashed = {}, pages = 0 }

local function addCounters(s)
  local packed = ARGV[s.at + 3]
  for from = 1, #packed, 10 do
    local index, value = struct.unpack('>I2d', packed, from)
    addToCounter(names[index + 1], value)
  end
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

local ONLY_COMMITTED = 'committed 0 0 0 0 '

local function settle(s)
  local lease = s.lease
  if not lease or lease.token ~= s.token or lease.incarnation ~= incarnation or not live then return 'lost' end
  local epoch = ARGV[s.at + 2]
  if epoch ~= '' and epoch ~= meta.epoch then return 'resend' end
  if comesTooLate(s.scraped) then
    giveBack(s.id, lease)
    return 'closed'
  end
  local accepted, duplicates, dropped, unseen = accept(s.at + 4, s.links, 'links')
  if s.kind == 'released' then
    giveBack(s.id, lease)
    if s.amount == 1 then setMeta('run_pages', math.max(0, number('run_pages') - 1)) end
  else
    finish(s, lease)
  end
  countForBudgets(s.scraped, s.errors)
  addCounters(s)
  for i = s.itemsAt, s.feedItemsAt - 1 do committed.items[#committed.items + 1] = ARGV[i] end
  for i = s.feedItemsAt, s.endsAt - 1 do committed.feedItems[#committed.feedItems + 1] = ARGV[i] end
  if s.links == 0 then return ONLY_COMMITTED .. meta.epoch end
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
