-- How leases end: what settle.lua and turn.lua have in common. What a settle brings in ARGV stands in settle.lua.
-- uses: nodes answers acceptance leases

local SETTLE, SETTLE_BYTES, COUNTER, COUNTER_BYTES, ONLY_COMMITTED = '>c20c1I6c4c5I2I2I2I6I6I1I1I2', 58, '>I2d', 10, 'committed 0 0 0 0 '

-- Of each where in ARGV it begins, where in the last its batch does, and its lease, false where there is none.
local function readSettles(from)
  local starts, batches, ids, leases, domainNames, at, batchAt = {}, {}, {}, {}, {}, from + 5, 1
  for n = 1, tonumber(ARGV[from]) do
    local links, items, feedItems = decode('>I2I2I2', ARGV[at], 37)
    starts[n], batches[n], ids[n] = at, batchAt, sub(ARGV[at], 1, 20)
    at = at + 1 + items + feedItems
    if links > 0 then batchAt = behindBatch(ARGV[#ARGV], batchAt, links) end
  end
  local packed = fetched('HMGET', leasesKey, ids)
  for n = 1, #ids do
    local lease = packed[n] and unpackLease(packed[n])
    leases[n] = lease
    if lease then domainNames[#domainNames + 1] = lease[LEASE_DOMAIN] end
  end
  loadDomains(domainNames)
  return starts, batches, leases
end

local items, feedItems, uncrashed, pages, done = {}, {}, {}, 0, 0

-- Those of all its settles together come with a call, so that only the few that commit nothing are gone through.
local function leaveOutCounters(head, sums)
  local tokenBytes, epochBytes, counters = decode('>I1I1I2', head, 55)
  local from = SETTLE_BYTES + tokenBytes + epochBytes + 1
  for i = from, from + (counters - 1) * COUNTER_BYTES, COUNTER_BYTES do
    local index, value = decode(COUNTER, head, i)
    sums[index + 1] = sums[index + 1] - value
  end
end

-- Ends the lease of a request that was processed. note: the record of a retry, JSON of why it failed.
local function finish(id, kind, amount, how, priority, note, lease)
  freeLease(id, lease)
  if kind == 't' then
    noteLife(id, 'retry', how)
    call('HSET', requests, id, note)
    park(lease[LEASE_DOMAIN], priority, id, nowMs + amount)
    return
  end
  pages = pages + 1
  if kind == 'd' then
    noteLife(id, 'done', how)
    ended[id], done = true, done + 1
    if lease[CRASHES] > 0 then uncrashed[#uncrashed + 1] = id end
  else
    noteLife(id, 'failed', how)
    fail(id, note)
  end
end

local function settle(at, batchAt, lease)
  local head = ARGV[at]
  local id, kind, amount, how, priority, links, itemCount, feedItemCount, scraped, errors, tokenBytes, epochBytes, counters = decode(SETTLE, head)
  local epochAt = SETTLE_BYTES + 1 + tokenBytes
  if not lease or lease[TOKEN] ~= sub(head, SETTLE_BYTES + 1, epochAt - 1) or lease[OWNER] ~= incarnation then return 'lost' end
  if epochBytes > 0 and sub(head, epochAt, epochAt + epochBytes - 1) ~= meta.epoch then return 'resend' end
  if comesTooLate(scraped) then
    giveBack(id, lease)
    return 'closed'
  end
  agreeOnDupefilter()
  local accepted, duplicates, dropped, unseen = accept(ARGV[#ARGV], batchAt, links, 'links')
  if kind == 'r' then
    giveBack(id, lease)
    if amount == 1 then setMeta('run_pages', max(0, number('run_pages') - 1)) end
  else
    finish(id, kind, amount, how, priority, sub(head, epochAt + epochBytes + counters * COUNTER_BYTES), lease)
  end
  countForBudgets(scraped, errors)
  for i = at + 1, at + itemCount do items[#items + 1] = ARGV[i] end
  for i = at + itemCount + 1, at + itemCount + feedItemCount do feedItems[#feedItems + 1] = ARGV[i] end
  if links == 0 then return ONLY_COMMITTED .. meta.epoch end
  return table.concat({ 'committed', accepted, duplicates, dropped, unseen, meta.epoch }, ' ')
end

local function saveFeedItems(feeds)
  for _, feed in ipairs(feeds) do
    local sequence, fields = call('HINCRBY', feedsKey, feed .. ':tail', #feedItems) - #feedItems, {}
    for i, item in ipairs(feedItems) do
      fields[2 * i - 1] = feed .. ':' .. string.format('%.0f', sequence + i)
      fields[2 * i] = item
    end
    chunked('HSET', outboxKey, fields)
  end
end

local function saveCommitted(feeds)
  local gone = {}
  for id in pairs(ended) do gone[#gone + 1] = id end
  chunked('HDEL', requests, gone)
  chunked('HDEL', crashesKey, uncrashed)
  if done > 0 then setMeta('done', number('done') + done) end
  if pages > 0 then call('HINCRBY', pagesKey, incarnation, pages) end
  saveLeases()
  closeWhenSpent()
  saveCounted()
  chunked('RPUSH', itemsKey, items)
  if #feedItems > 0 then saveFeedItems(feeds) end
end

-- What changed nothing is judged anew.
local function hasEffect(answer) return answer ~= nil and answer ~= 'lost' and answer ~= 'resend' end

local function tokenField(at)
  local head = ARGV[at]
  return ARGV[1] .. ':t' .. sub(head, SETTLE_BYTES + 1, SETTLE_BYTES + decode('>I1', head, 55))
end

-- The answers that these settles were given before: by this very call, by the one that ARGV[from + 4] names, or by one
-- between the two, which kept it by its token. Returns them, and which of them have travelled before.
local function firstAnswers(from, starts)
  local first, again = settledBy(ARGV[2]), {}
  for n, callNumber, line in string.gmatch(ARGV[from + 4], '(%d+)=(%d+)%.(%d+)') do
    n = tonumber(n)
    again[n] = true
    if not hasEffect(first[n]) then first[n] = settledBy(callNumber)[tonumber(line)] end
    if not hasEffect(first[n]) then first[n] = call('HGET', answersKey, tokenField(starts[n])) or nil end
  end
  return first, again
end

-- Judges the settles that ARGV[from] counts, and commits them.
local function answerSettles(from)
  local live, feeds, names = isLive(incarnation), namesOf(ARGV[from + 1]), namesOf(ARGV[from + 2])
  local sums = {}
  for i = 1, #names do sums[i] = decode('>d', ARGV[from + 3], 8 * i - 7) end
  local starts, batches, leases = readSettles(from)
  local first, again = firstAnswers(from, starts)
  local answers, isNew = {}, false
  for n = 1, #starts do
    local at = starts[n]
    local answer, isCommitted = first[n], false
    if not hasEffect(answer) then
      answer = live and settle(at, batches[n], leases[n]) or 'lost'
      if hasEffect(answer) then
        isNew, isCommitted = true, answer ~= 'closed'
        if again[n] then call('HSET', answersKey, tokenField(at), answer) end
      end
    end
    if not isCommitted then leaveOutCounters(ARGV[at], sums) end
    answers[n] = answer
  end
  for i, name in ipairs(names) do
    if sums[i] ~= 0 then addToCounter(name, sums[i]) end
  end
  saveCommitted(feeds)
  if isNew then keepSettled(answers) end
  return answers
end
