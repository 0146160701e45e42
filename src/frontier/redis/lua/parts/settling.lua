-- How leases end: what settle.lua and turn.lua have in common. What a settle brings in ARGV stands in settle.lua.
-- uses: nodes answers acceptance leases

-- What every settle is asked for, and the rest of its head.
local SETTLE, SETTLE_BYTES, ITEMS_AT, REST, REST_AT, HOW_AT = '>I6I1I2I4I1I6I6', 55, 10, '>I6c4c5I2I4I4I4', 27, 33
local DONE, RETRY, RELEASED = 100, 116, 114
local COUNTER, COUNTER_BYTES, ONLY_COMMITTED = '>I2d', 10, 'committed 0 0 0 0 '

local uncrashed, pages = {}, 0

-- Those of all its settles together come with a call, so that only the few that commit nothing are gone through.
local function leaveOutCounters(heads, at, sums) -- rarely: seldom
  local _, _, _, counters, from = decode(REST, heads, at + REST_AT)
  for i = from, from + (counters - 1) * COUNTER_BYTES, COUNTER_BYTES do
    local index, value = decode(COUNTER, heads, i)
    sums[index + 1] = sums[index + 1] - value
  end
end

-- A lease that ends otherwise than done. at: behind what in heads its own begins.
local function finish(id, kind, lease, heads, at) -- rarely: seldom
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

local function saveFeedItems(feeds, feedItems)
  for _, feed in ipairs(feeds) do
    local sequence, fields = call('HINCRBY', feedsKey, feed .. ':tail', #feedItems) - #feedItems, {}
    for i, item in ipairs(feedItems) do
      fields[2 * i - 1] = feed .. ':' .. string.format('%.0f', sequence + i)
      fields[2 * i] = item
    end
    chunked('HSET', outboxKey, fields)
  end
end

-- Items of those settles of a call that were committed, where they are not all, or feeds are joined: both from at, those
-- of all settles first.
local function saveSomeItems(heads, count, at, isCommitted, feeds) -- rarely: seldom
  local items, feedItems, feedAt, counts, feedCounts = {}, {}, at, {}, {}
  for n = 1, count do
    counts[n], feedCounts[n] = decode('>I2I2', heads, (n - 1) * SETTLE_BYTES + ITEMS_AT)
    feedAt = feedAt + counts[n]
  end
  for n = 1, count do
    for i = at, isCommitted[n] and at + counts[n] - 1 or 0 do items[#items + 1] = ARGV[i] end
    for i = feedAt, isCommitted[n] and feedAt + feedCounts[n] - 1 or 0 do feedItems[#feedItems + 1] = ARGV[i] end
    at, feedAt = at + counts[n], feedAt + feedCounts[n]
  end
  chunked('RPUSH', itemsKey, items)
  if #feedItems > 0 then saveFeedItems(feeds, feedItems) end
end

local function forgetEnded() -- rarely: seldom
  local ids = {}
  for id in pairs(ended) do ids[#ids + 1] = id end
  chunked('HDEL', requests, ids)
end

-- gone: requests that are done, goneFrom: their domains; hows: where in the heads of each stands what is noted of it.
-- bringsRequests: they may be the same as some that have ended, and live again.
local function saveCommitted(gone, goneFrom, heads, hows, bringsRequests)
  local done = #gone
  if not bringsRequests then
    noteLives(gone, 'done', heads, hows)
    chunked('HDEL', requests, gone)
  elseif next(ended) then
    forgetEnded()
  end
  chunked('HDEL', crashesKey, uncrashed)
  if done > 0 then setMeta('done', number('done') + done) end
  freeOwn(gone, goneFrom)
  if done + pages > 0 then call('HINCRBY', pagesKey, incarnation, inDigits(done + pages)) end
  saveLeases()
  if hasBudgets() then closeWhenSpent() end
  saveCounted()
end

-- The answers that these settles were given before: by this very call (text), by the one that `again` names (ARGV[8] of
-- settle.lua), or by one between the two, which kept it by its token. Returns them, and the tokens of those that have
-- travelled before. What changed nothing is judged anew.
local function firstAnswers(text, again) -- rarely: seldom
  local first, tokens = settledOnes(text), {}
  for n, callNumber, line, token in string.gmatch(again, '(%d+)=(%d+)%.(%d+)=([^,]+)') do
    n = tonumber(n)
    tokens[n] = token
    first[n] = first[n] or settledOnes(settledText(callNumber))[tonumber(line)] or call('HGET', answersKey, ARGV[1] .. ':t' .. token)
  end
  return first, tokens
end

-- Judges the settles that ARGV[from] counts, and commits them. Returns a line for each.
local function answerSettles(from)
  local args = ARGV
  local count, heads, epochs = tonumber(args[from]), args[from + 6], namesOf(args[from + 5])
  local ids, batch, batchAt = { unpack(args, from + 7, from + 6 + count) }, args[#args], 1
  local live, feeds, names, sums = isLive(incarnation), namesOf(args[from + 1]), namesOf(args[from + 2]), namesOf(args[from + 3])
  local settled, first, tokens = settledText(ARGV[2]), nil, nil
  if settled or args[from + 4] ~= '' then first, tokens = firstAnswers(settled, args[from + 4]) end
  -- Read before anything is written.
  local leases, answers, isCommitted = fetched('HMGET', leasesKey, ids), { unpack(ids) }, { unpack(ids) }
  local gone, goneFrom, hows, done, committed, scrapedNow, errorsSoFar = roomFor(count), roomFor(count), roomFor(count), 0, 0, 0, 0
  local bringsRequests, isNew, isLimited, onlyCommitted = batch ~= '', false, hasBudgets(), ONLY_COMMITTED .. meta.epoch
  local beginningBytes, lastBeginning, owner, lastGivenBy, crashes, orderAt, _ = LEASE_BYTES + #incarnation, nil, nil, nil, nil, nil, nil
  for n = 1, count do
    local at, id, packed, answer = (n - 1) * SETTLE_BYTES, ids[n], leases[n], first and first[n]
    local givenBy, kind, links, _, epoch, scraped, errors = decode(SETTLE, heads, at + 1)
    isCommitted[n] = false
    if not answer then
      -- Leases that one call gave begin alike.
      local beginning = packed and sub(packed, 1, beginningBytes)
      if packed and beginning ~= lastBeginning then
        owner, _, lastGivenBy, crashes, orderAt = decode(LEASE, packed)
        lastBeginning = beginning
      end
      if not packed or not live or owner ~= incarnation or lastGivenBy ~= givenBy then
        answer = 'lost'
      elseif epoch > 0 and epochs[epoch] ~= meta.epoch then
        answer = 'resend'
      elseif isLimited and comesTooLate(scraped, scrapedNow) then
        answer, isNew = 'closed', true
        giveBack(id, unpackLease(packed))
      else
        answer, isNew, isCommitted[n], committed = onlyCommitted, true, true, committed + 1
        if links > 0 then
          local accepted, duplicates, dropped, unseen = accept(batch, batchAt, links, 'links')
          answer = table.concat({ 'committed', accepted, duplicates, dropped, unseen, meta.epoch }, ' ')
        end
        if kind == DONE then
          done = done + 1
          gone[done], goneFrom[done], hows[done] = id, sub(packed, orderAt + ORDER), at + HOW_AT
          if bringsRequests then
            ended[id] = true
            noteLife(id, 'done', heads, at + HOW_AT)
          end
          if crashes > 0 then uncrashed[#uncrashed + 1] = id end
        else
          finish(id, kind, unpackLease(packed), heads, at)
        end
        scrapedNow, errorsSoFar = scrapedNow + scraped, errorsSoFar + errors
      end
      if tokens and tokens[n] and answer ~= 'lost' and answer ~= 'resend' then call('HSET', answersKey, ARGV[1] .. ':t' .. tokens[n], answer) end
    end
    answers[n] = answer
    if not isCommitted[n] then leaveOutCounters(heads, at, sums) end
    if links > 0 then batchAt = behindBatch(batch, batchAt, links) end
  end
  itemsNow, errorsNow = scrapedNow, errorsSoFar
  saveSums(names, sums)
  saveCommitted(gone, goneFrom, heads, hows, bringsRequests)
  if committed == count and #feeds == 0 then
    chunked('RPUSH', itemsKey, args, from + 7 + count, #args - 1)
  else
    saveSomeItems(heads, count, from + 7 + count, isCommitted, feeds)
  end
  local lines = table.concat(answers, '\n')
  if isNew then
    agreeOnDupefilter()
    keepSettled(lines)
  end
  return lines
end
