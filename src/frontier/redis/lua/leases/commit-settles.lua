-- Ends leases and commits their effects: what settle.lua and settle-and-lease.lua have in common. Each settle is judged and
-- committed by itself, in order. What only adds up is collected in a batch, and written once at the end of the call.
--
-- args.settles, no two of one lease, each by name:
--   id, call            the lease: its request, and the call that gave it
--   kind                done | retry | failed | released
--   epoch               epoch of the sender's cache of seen links, where it withheld links because of it
--   status, attempts    HTTP status or 0; number of downloads so far
--   afterMs, priority, record   of a retry
--   failure             of one that failed: JSON of why
--   noPage              of one that is done, NoPage of types/leases.ts; absent where its page was processed
--   unstarted           no download began: if set, the page no longer counts against the budget
--   items, feedItems    JSON texts; absent when there are none
--   itemIds             of feedItems, for pipelines; absent where they follow from the request and the item's number
--   counts              what it adds to each counter of args.counters
--   latencyMs           of the response, for AutoThrottle; absent where there was none
--   scraped, errors     amounts that count against the budgets; absent for 0
--   requests            the links, see acceptance.lua; absent when there are none
--   cookies, maxJars    changes of cookies, see cookies/cookies.lua; absent when there are none
--   custom              changes of the user's own stats, see base/custom-stats.lua; absent when there are none
--   closing             a reason to close the run with; absent for none
--   validators          of the page, see dupefilters/validators.lua; absent where they are not kept
-- args.counters: names of counters. args.feeds: the feeds and outboxes of pipelines that this node joined with.

-- Removes the done requests that were collected, in one batch. Called before the links of the next settle are judged: one of
-- them may point to a request that is done.
local function removeDone(crawl, done)
  lists.send('HDEL', crawl.keys.requests, done.ids)
  lists.send('HDEL', crawl.keys.crashes, done.crashed)
  earlyLinks.forget(crawl, done.ids)
  state.note(crawl, done.ids, 'done', done.statuses, done.attempts)
  meta.add(crawl, 'done', #done.ids)
  done.ids, done.crashed, done.statuses, done.attempts = {}, {}, {}, {}
end

-- Moves the request of an ended lease to its next state.
local function moveRequest(crawl, settle, lease, done)
  local id = settle.id
  if settle.kind == 'done' then
    local n = #done.ids + 1
    done.ids[n], done.statuses[n], done.attempts[n] = id, settle.status, settle.attempts
    if lease.crashes > 0 then done.crashed[#done.crashed + 1] = id end
    if settle.noPage == 'error' then meta.add(crawl, 'run_error_pages', 1) end
    if not settle.noPage and not meta.get(crawl, 'run_good') then meta.set(crawl, 'run_good', '1') end
  elseif settle.kind == 'retry' then
    local dueAt = crawl.nowMs + math.ceil(settle.afterMs)
    local arrival = queue.delay(crawl, lease.domain, settle.priority, id, dueAt)
    redis.call('HSET', crawl.keys.requests, id, storedRecord.pack(settle.record, arrival, dueAt))
    state.note(crawl, { id }, 'delayed', { settle.status }, { settle.attempts })
  elseif settle.kind == 'failed' then
    state.note(crawl, { id }, 'failed', { settle.status }, { settle.attempts })
    leaseRecords.fail(crawl, id, settle.failure)
  else
    leaseRecords.release(crawl, id, lease)
  end
  if settle.unstarted then meta.set(crawl, 'run_leased', math.max(0, meta.number(crawl, 'run_leased') - 1)) end
end

-- What the settles of a call add up to.
local function openBatch(crawl)
  local files, pipelines = feeds.byKind(crawl.args.feeds)
  local epoch, sums = meta.get(crawl, 'epoch'), {}
  for i = 1, #crawl.args.counters do sums[i] = 0 end
  return {
    epoch = epoch, isLive = nodes.isLive(crawl, crawl.caller),
    -- The answer to a settle without links.
    plainAnswer = cjson.encode({ committed = true, epoch = epoch, allSeen = true, accepted = 0, duplicates = 0 }),
    endedIds = {}, ended = {}, -- the leases that end
    done = { ids = {}, crashed = {}, statuses = {}, attempts = {} }, -- their requests that are done, see removeDone
    sums = sums, -- of args.counters
    items = {}, feedItems = {}, files = files, pipelines = pipelines,
    pipelineItems = #pipelines > 0 and {} or nil, -- the feed items with their ids; nil where no pipeline takes them
    latencies = {}, isThrottled = autothrottle.isOn(crawl),
    settled = 0, -- pages that are done or failed
    answers = {}, -- to keep, see answers.lua
  }
end

-- Whether the node still holds the lease. If not, its settle has no effect.
local function isOurs(crawl, settle, lease)
  return lease and lease.node == crawl.caller and lease.call == settle.call
end

-- Accepts the links of a page. Returns the answer to its settle, and whether a link was dropped.
local function acceptLinks(crawl, batch, settle)
  if not settle.requests then return batch.plainAnswer, false end
  -- Judge the links before the page's own request goes, so that a link to the page itself counts as a duplicate.
  removeDone(crawl, batch.done)
  local answer, allSeen = acceptance.accept(crawl, settle.requests, 'links', settle.id)
  answer.committed, answer.epoch, answer.allSeen = true, batch.epoch, allSeen
  return cjson.encode(answer), answer.dropped or answer.trapped
end

-- Adds up its counters, and what counts against the budgets.
local function addCounts(crawl, batch, settle)
  local counts, sums = settle.counts, batch.sums
  for i = 1, #counts do sums[i] = sums[i] + counts[i] end
  if settle.scraped then meta.add(crawl, 'run_items', settle.scraped) end
  if settle.errors then meta.add(crawl, 'run_errors', settle.errors) end
end

local function addItems(batch, settle)
  lists.append(batch.items, settle.items)
  lists.append(batch.feedItems, settle.feedItems)
  local withIds = batch.pipelineItems
  for number, item in ipairs(withIds and settle.feedItems or {}) do
    withIds[#withIds + 1] = feeds.withId(settle, number, item)
  end
end

local function addLatency(batch, settle, lease)
  if not batch.isThrottled or not settle.latencyMs or settle.kind == 'released' then return end
  batch.latencies[#batch.latencies + 1] = { lease.domain, settle.latencyMs, settle.status }
end

-- Closes the run where the page wants that. A budget that is used up comes first, since the first reason stays.
local function closeRun(crawl, reason)
  budgets.closeWhenSpent(crawl)
  budgets.close(crawl, reason, 0)
end

-- Commits one page. Returns the answer to its settle.
local function commitOne(crawl, batch, settle, lease)
  local answer, hasDropped = acceptLinks(crawl, batch, settle)
  moveRequest(crawl, settle, lease, batch.done)
  addCounts(crawl, batch, settle)
  addItems(batch, settle)
  cookies.merge(crawl, settle)
  if settle.custom then customStats.apply(crawl, settle.custom) end
  if settle.closing then closeRun(crawl, settle.closing) end
  if settle.validators then validators.commit(crawl, settle, batch.epoch, hasDropped) end
  addLatency(batch, settle, lease)
  if settle.kind == 'done' or settle.kind == 'failed' then batch.settled = batch.settled + 1 end
  return answer
end

-- Judges one settle, and commits it unless its lease is lost, its links were judged under another epoch, or it comes too late.
-- Returns its answer.
local function settleOne(crawl, batch, settle, lease)
  if not batch.isLive or not isOurs(crawl, settle, lease) then
    -- Lost, unless this is a repetition of a settle that ended the lease: then its first answer.
    return answers.firstOfSettle(crawl, settle.call, settle.id) or '{"committed":false}'
  end
  if settle.epoch and settle.epoch ~= batch.epoch then return '{"committed":false,"resend":true}' end
  batch.endedIds[#batch.endedIds + 1], batch.ended[#batch.ended + 1] = settle.id, lease
  local answer
  if settle.scraped and budgets.isTooLate(crawl) then
    leaseRecords.release(crawl, settle.id, lease)
    answer = '{"committed":false,"closed":true}'
  else
    answer = commitOne(crawl, batch, settle, lease)
  end
  lists.pair(batch.answers, answers.settleField(crawl, settle.call, settle.id), answer)
  return answer
end

-- Writes what the settles of the call add up to.
local function saveBatch(crawl, batch)
  removeDone(crawl, batch.done)
  for i, name in ipairs(crawl.args.counters) do counters.add(crawl, name, batch.sums[i]) end
  leaseRecords.finish(crawl, batch.endedIds, batch.ended)
  for _, latency in ipairs(batch.latencies) do autothrottle.adjust(crawl, unpack(latency)) end
  lists.send('RPUSH', crawl.keys.items, batch.items)
  feeds.append(crawl, batch.files, batch.feedItems)
  feeds.append(crawl, batch.pipelines, batch.pipelineItems or {})
  cookies.save(crawl)
  if batch.settled > 0 then reader.add(crawl.keys.settled, crawl.caller, batch.settled) end
  dupefilters.agree(crawl)
  budgets.closeWhenSpent(crawl)
  answers.keepSettles(crawl, batch.answers)
end

-- Judges the settles of a call, and commits them. Returns for each what settle.lua says.
function commitSettles.run(crawl)
  local settles, batch, ids, replies = crawl.args.settles, openBatch(crawl), {}, {}
  for n, settle in ipairs(settles) do ids[n] = settle.id end
  local held = leaseRecords.read(crawl, ids)
  for n, settle in ipairs(settles) do replies[n] = settleOne(crawl, batch, settle, held[n]) end
  if #batch.ended > 0 then saveBatch(crawl, batch) end
  return replies
end
