-- How leases end: what settle.lua and turn.lua have in common. What a settle brings in ARGV stands in settle.lua.
-- uses: nodes answers acceptance leases

-- What every settle is asked for, and the rest of its head.
local SETTLE, SETTLE_BYTES, REST, REST_AT, HOW_AT = '>I6I1I2I2I2I1I6I6', 55, '>I6c4c5I2I4I4I4', 27, 33
local DONE, RETRY, RELEASED = 100, 116, 114
local COUNTER, COUNTER_BYTES, ONLY_COMMITTED = '>I2d', 10, 'committed 0 0 0 0 '

local items, feedItems, uncrashed, pages, done = {}, {}, {}, 0, 0

-- Those of all its settles together come with a call, so that only the few that commit nothing are gone through.
local function leaveOutCounters(heads, at, sums)
  local _, _, _, counters, from = decode(REST, heads, at + REST_AT)
  for i = from, from + (counters - 1) * COUNTER_BYTES, COUNTER_BYTES do
    local index, value = decode(COUNTER, heads, i)
    sums[index + 1] = sums[index + 1] - value
  end
end

-- Reads the leases before anything is written. Returns them packed, of each where its order begins (false: there is
-- none, or it is not this node's), which call gave it, and its crashes.
local function readLeases(ids)
  local leases, orderAts, givenBys, crashes = fetched('HMGET', leasesKey, ids), { unpack(ids) }, { unpack(ids) }, { unpack(ids) }
  for n = 1, #ids do
    local packed = leases[n]
    if packed then
      local owner, _, givenBy, crashed, orderAt = decode(LEASE, packed)
      orderAts[n], givenBys[n], crashes[n] = owner == incarnation and orderAt, givenBy, crashed
    else
      orderAts[n] = false
    end
  end
  return leases, orderAts, givenBys, crashes
end

-- A lease that ends otherwise than done. at: behind what in heads its own begins.
local function finish(id, kind, lease, heads, at)
  local amount, how, priority, _, _, noteAt, noteBytes = decode(REST, heads, at + REST_AT)
  if kind == RELEASED then
    giveBack(id, lease)
    if amount == 1 then setMeta('run_pages', max(0, number('run_pages') - 1)) end
    return
  end
  local note = sub(heads, noteAt, noteAt + noteBytes - 1)
  freeLease(id, incarnation, lease[LEASE_DOMAIN])
  if kind == RETRY then
    noteLife(id, 'retry', how)
    call('HSET', requests, id, note)
    park(lease[LEASE_DOMAIN], priority, id, nowMs + amount)
  else
    pages = pages + 1
    noteLife(id, 'failed', how)
    fail(id, note)
  end
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

-- The answers that these settles were given before: by this very call, by the one that ARGV[from + 4] names, or by one
-- between the two, which kept it by its token. Returns them, and the tokens of those that have travelled before. What
-- changed nothing is judged anew.
local function firstAnswers(from)
  local first, again = settledBy(ARGV[2]), {}
  for n, callNumber, line, token in string.gmatch(ARGV[from + 4], '(%d+)=(%d+)%.(%d+)=([^,]+)') do
    n = tonumber(n)
    again[n] = token
    first[n] = first[n] or settledBy(callNumber)[tonumber(line)] or call('HGET', answersKey, ARGV[1] .. ':t' .. token)
  end
  return first, again
end

-- Judges the settles that ARGV[from] counts, and commits them. Returns a line for each.
local function answerSettles(from)
  local args = ARGV
  local count, heads, epochs = tonumber(args[from]), args[from + 6], namesOf(args[from + 5])
  local ids, itemsAt, batchAt = { unpack(args, from + 7, from + 6 + count) }, from + 7 + count, 1
  local live, feeds, names = isLive(incarnation), namesOf(args[from + 1]), namesOf(args[from + 2])
  local sums = namesOf(args[from + 3])
  local first, again = firstAnswers(from)
  local leases, orderAts, givenBys, crashes = readLeases(ids)
  local answers = { unpack(ids) }
  local isNew, isLimited, onlyCommitted = false, hasBudgets(), ONLY_COMMITTED .. meta.epoch
  for n = 1, count do
    local at, id, packed, answer, isCommitted = (n - 1) * SETTLE_BYTES, ids[n], leases[n], first[n], false
    local givenBy, kind, links, itemCount, feedItemCount, epoch, scraped, errors = decode(SETTLE, heads, at + 1)
    if not answer then
      if not live or not orderAts[n] or givenBys[n] ~= givenBy then
        answer = 'lost'
      elseif epoch > 0 and epochs[epoch] ~= meta.epoch then
        answer = 'resend'
      elseif isLimited and comesTooLate(scraped) then
        answer, isNew = 'closed', true
        giveBack(id, unpackLease(packed))
      else
        answer, isNew, isCommitted = onlyCommitted, true, true
        if links > 0 then
          local accepted, duplicates, dropped, unseen = accept(args[#args], batchAt, links, 'links')
          answer = table.concat({ 'committed', accepted, duplicates, dropped, unseen, meta.epoch }, ' ')
        end
        if kind == DONE then
          pages, done, ended[id] = pages + 1, done + 1, true
          noteLife(id, 'done', heads, at + HOW_AT)
          if crashes[n] > 0 then uncrashed[#uncrashed + 1] = id end
          freeLease(id, incarnation, sub(packed, orderAts[n] + ORDER))
        else
          finish(id, kind, unpackLease(packed), heads, at)
        end
        countForBudgets(scraped, errors)
        for i = itemsAt, itemsAt + itemCount - 1 do items[#items + 1] = args[i] end
        for i = itemsAt + itemCount, itemsAt + itemCount + feedItemCount - 1 do feedItems[#feedItems + 1] = args[i] end
      end
      if again[n] and answer ~= 'lost' and answer ~= 'resend' then call('HSET', answersKey, ARGV[1] .. ':t' .. again[n], answer) end
    end
    if not isCommitted then leaveOutCounters(heads, at, sums) end
    answers[n], itemsAt = answer, itemsAt + itemCount + feedItemCount
    if links > 0 then batchAt = behindBatch(args[#args], batchAt, links) end
  end
  for i = 1, #names do
    if sums[i] ~= 0 and sums[i] ~= '0' then addToCounter(names[i], sums[i]) end
  end
  saveCommitted(feeds)
  local lines = table.concat(answers, '\n')
  if isNew then
    agreeOnDupefilter()
    keepSettled(lines)
  end
  return lines
end
