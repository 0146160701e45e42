-- How leases end: what settle.lua and turn.lua have in common. What a settle brings in ARGV stands in settle.lua.
-- uses: nodes answers acceptance leases

local HEAD, HEAD_BYTES, COUNTER, COUNTER_BYTES, ONLY_COMMITTED = '>c20c1I6c4c5I2I2I2I6I6I1I1I2', 58, '>I2d', 10, 'committed 0 0 0 0 '

-- All of them, and of each its first answer and its lease, false where there is none. All fields of a table are given at
-- once: one that grows costs as much again, and one of more than 16 twice as much.
local function readSettles(from)
  local KINDS = { d = 'done', t = 'retry', f = 'failed', r = 'released' }
  local settles, fields, ids, leases, domainNames, at = {}, {}, {}, {}, {}, from + 4
  for n = 1, tonumber(ARGV[from]) do
    local head = ARGV[at]
    local id, kind, amount, how, priority, links, items, feedItems, scraped, errors, tokenBytes, epochBytes, counters = struct.unpack(HEAD, head)
    local epochAt = HEAD_BYTES + 1 + tokenBytes
    local countersAt = epochAt + epochBytes
    local token = sub(head, HEAD_BYTES + 1, epochAt - 1)
    local feedItemsAt = at + 1 + (links > 0 and BATCH or 0) + items
    ids[n], fields[n] = id, incarnation .. ':s' .. token
    settles[n] = { at = at, id = id, kind = KINDS[kind], amount = amount, how = how, priority = priority, links = links, feedItemsAt = feedItemsAt,
      endsAt = feedItemsAt + feedItems, scraped = scraped, errors = errors, token = token, field = fields[n],
      epoch = sub(head, epochAt, countersAt - 1), countersAt = countersAt, noteAt = countersAt + counters * COUNTER_BYTES }
    at = feedItemsAt + feedItems
  end
  local answers = fetched('HMGET', answersKey, fields)
  for n, packed in ipairs(fetched('HMGET', leasesKey, ids)) do
    leases[n] = packed and unpackLease(packed)
    if packed then domainNames[#domainNames + 1] = leases[n].domain end
  end
  loadDomains(domainNames)
  return settles, answers, leases
end

local committed = { items = {}, feedItems = {}, uncrashed = {}, pages = 0 }

-- Those of all its settles together come with a call, so that only the few that commit nothing are gone through.
local function leaveOutCounters(s, sums)
  for from = s.countersAt, s.noteAt - 1, COUNTER_BYTES do
    local index, value = struct.unpack(COUNTER, ARGV[s.at], from)
    sums[index + 1] = sums[index + 1] - value
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
    call('HSET', requests, s.id, sub(ARGV[s.at], s.noteAt))
    park(lease.domain, s.priority, s.id, nowMs + s.amount)
  else
    fail(s.id, sub(ARGV[s.at], s.noteAt))
  end
  if s.kind ~= 'retry' then committed.pages = committed.pages + 1 end
end

local function settle(s, lease)
  if not lease or lease.token ~= s.token or lease.incarnation ~= incarnation then return 'lost' end
  if s.epoch ~= '' and s.epoch ~= meta.epoch then return 'resend' end
  if comesTooLate(s.scraped) then
    giveBack(s.id, lease)
    return 'closed'
  end
  agreeOnDupefilter()
  local accepted, duplicates, dropped, unseen = accept(s.at + 1, s.links, 'links')
  if s.kind == 'released' then
    giveBack(s.id, lease)
    if s.amount == 1 then setMeta('run_pages', math.max(0, number('run_pages') - 1)) end
  else
    finish(s, lease)
  end
  countForBudgets(s.scraped, s.errors)
  for i = s.at + 1 + (s.links > 0 and BATCH or 0), s.feedItemsAt - 1 do committed.items[#committed.items + 1] = ARGV[i] end
  for i = s.feedItemsAt, s.endsAt - 1 do committed.feedItems[#committed.feedItems + 1] = ARGV[i] end
  if s.links == 0 then return ONLY_COMMITTED .. meta.epoch end
  return table.concat({ 'committed', accepted, duplicates, dropped, unseen, meta.epoch }, ' ')
end

local function saveFeedItems(items, feeds)
  for _, feed in ipairs(feeds) do
    local sequence, fields = call('HINCRBY', feedsKey, feed .. ':tail', #items) - #items, {}
    for i, item in ipairs(items) do
      fields[2 * i - 1] = feed .. ':' .. string.format('%.0f', sequence + i)
      fields[2 * i] = item
    end
    chunked('HSET', outboxKey, fields)
  end
end

local function saveCommitted(feeds)
  local done = {}
  for id in pairs(ended) do done[#done + 1] = id end
  chunked('HDEL', requests, done)
  chunked('HDEL', crashesKey, committed.uncrashed)
  if committed.pages > 0 then call('HINCRBY', pagesKey, incarnation, committed.pages) end
  saveLeases()
  closeWhenSpent()
  saveCounted()
  chunked('RPUSH', itemsKey, committed.items)
  if #committed.feedItems > 0 then saveFeedItems(committed.feedItems, feeds) end
end

-- Judges the settles that ARGV[from] counts, and commits them. Where two of a call bear one token, the second is the first
-- one sent again.
local function answerSettles(from)
  local live, feeds, names = isLive(incarnation), namesOf(ARGV[from + 1]), namesOf(ARGV[from + 2])
  local sums = {}
  for i = 1, #names do sums[i] = struct.unpack('>d', ARGV[from + 3], 8 * i - 7) end
  local settles, answers, leased = readSettles(from)
  local kept, answered = {}, {}
  for n, s in ipairs(settles) do
    local answer, isCommitted = answers[n] or answered[s.field], false
    if not answer then
      answer = live and settle(s, leased[n]) or 'lost'
      -- What changed nothing is judged anew.
      if answer ~= 'lost' and answer ~= 'resend' then
        answered[s.field] = answer
        kept[#kept + 1] = s.field
        kept[#kept + 1] = answer
        isCommitted = answer ~= 'closed'
      end
    end
    if not isCommitted then leaveOutCounters(s, sums) end
    answers[n] = answer
  end
  for i, name in ipairs(names) do
    if sums[i] ~= 0 then addToCounter(name, sums[i]) end
  end
  saveCommitted(feeds)
  chunked('HSET', answersKey, kept)
  return answers
end
