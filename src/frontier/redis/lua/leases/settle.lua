-- End leases and commit their effects: of each its items, discovered requests, counters and the acknowledgement in one
-- step, or none of them. Each settle is judged and committed by itself, in order; they are sent together because most of the cost
-- is per call. What only adds up is collected in a batch, and written once at the end of the call.
-- Atomic: this is what makes a page commit once; a stale token changes nothing.
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
--   ignored             of a page whose status was ignored: its JSON for the list of these; else absent
-- args.counters: names of counters. args.feeds: the feeds and outboxes of pipelines that this node joined with.
-- Returns for each JSON of committed, and where it is not, resend: judged under another epoch, or closed: the run's item budget
--   was used up before this page with its items came, so its request is pending again; and where it is, epoch, allSeen: whether
--   the dupefilter holds all links, and what acceptance.accept returns of them. O(n log m).

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
local function moveRequest(crawl, page, held, done)
  local id = page.id
  if page.kind == 'done' then
    local n = #done.ids + 1
    done.ids[n], done.statuses[n], done.attempts[n] = id, page.status, page.attempts
    if held.crashes > 0 then done.crashed[#done.crashed + 1] = id end
    if page.noPage == 'error' then meta.add(crawl, 'run_error_pages', 1) end
    if not page.noPage and not meta.get(crawl, 'run_good') then meta.set(crawl, 'run_good', '1') end
  elseif page.kind == 'retry' then
    local dueAt = crawl.nowMs + math.ceil(page.afterMs)
    local arrival = queue.delay(crawl, held.domain, page.priority, id, dueAt)
    redis.call('HSET', crawl.keys.requests, id, storedRecord.pack(page.record, arrival, dueAt))
    state.note(crawl, { id }, 'delayed', { page.status }, { page.attempts })
  elseif page.kind == 'failed' then
    state.note(crawl, { id }, 'failed', { page.status }, { page.attempts })
    leaseRecords.fail(crawl, id, page.failure)
  else
    leaseRecords.release(crawl, id, held)
  end
  if page.unstarted then budgets.giveBackPage(crawl) end
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
    ignored = {},
    settled = 0, -- pages that are done or failed
    answers = {}, -- to keep, see answers.lua
  }
end

-- Whether the node still holds the lease. If not, its settle has no effect.
local function isOurs(crawl, page, held)
  return held and held.node == crawl.caller and held.call == page.call
end

-- Accepts the links of a page. Returns the answer to its settle, and whether a link was dropped.
local function acceptLinks(crawl, batch, page)
  if not page.requests then return batch.plainAnswer, false end
  -- Judge the links before the page's own request goes, so that a link to the page itself counts as a duplicate.
  removeDone(crawl, batch.done)
  local answer, allSeen = acceptance.accept(crawl, page.requests, 'links', page.id)
  answer.committed, answer.epoch, answer.allSeen = true, batch.epoch, allSeen
  return cjson.encode(answer), answer.dropped or answer.trapped
end

-- Adds up its counters, and what counts against the budgets.
local function addCounts(crawl, batch, page)
  local counts, sums = page.counts, batch.sums
  for i = 1, #counts do sums[i] = sums[i] + counts[i] end
  if page.scraped then meta.add(crawl, 'run_items', page.scraped) end
  if page.errors then meta.add(crawl, 'run_errors', page.errors) end
end

local function addItems(batch, page)
  lists.append(batch.items, page.items)
  lists.append(batch.feedItems, page.feedItems)
  local withIds = batch.pipelineItems
  for number, item in ipairs(withIds and page.feedItems or {}) do
    withIds[#withIds + 1] = feeds.withId(page, number, item)
  end
end

local function addLatency(batch, page, held)
  if not batch.isThrottled or not page.latencyMs or page.kind == 'released' then return end
  batch.latencies[#batch.latencies + 1] = { held.domain, page.latencyMs, page.status }
end

-- Closes the run where the page wants that. A budget that is used up comes first, since the first reason stays.
local function closeRun(crawl, batch, reason)
  budgets.closeWhenSpent(crawl, #batch.ended)
  budgets.close(crawl, reason, 0)
end

-- Commits one page. Returns the answer to its page.
local function commitOne(crawl, batch, page, held)
  local answer, hasDropped = acceptLinks(crawl, batch, page)
  moveRequest(crawl, page, held, batch.done)
  addCounts(crawl, batch, page)
  addItems(batch, page)
  cookies.merge(crawl, page)
  if page.custom then customStats.apply(crawl, page.custom) end
  if page.closing then closeRun(crawl, batch, page.closing) end
  if page.validators then validators.commit(crawl, page, batch.epoch, hasDropped) end
  if page.ignored then batch.ignored[#batch.ignored + 1] = page.ignored end
  addLatency(batch, page, held)
  if page.kind == 'done' or page.kind == 'failed' then batch.settled = batch.settled + 1 end
  return answer
end

-- Judges one settle, and commits it unless its lease is lost, its links were judged under another epoch, or it comes too late.
-- Returns its answer.
local function settleOne(crawl, batch, page, held)
  if not batch.isLive or not isOurs(crawl, page, held) then
    -- Lost, unless this is a repetition of a settle that ended the lease: then its first answer.
    return answers.firstOfSettle(crawl, page.call, page.id) or '{"committed":false}'
  end
  if page.epoch and page.epoch ~= batch.epoch then return '{"committed":false,"resend":true}' end
  batch.endedIds[#batch.endedIds + 1], batch.ended[#batch.ended + 1] = page.id, held
  local answer
  if page.scraped and budgets.isTooLate(crawl) then
    leaseRecords.release(crawl, page.id, held)
    answer = '{"committed":false,"closed":true}'
  else
    answer = commitOne(crawl, batch, page, held)
  end
  lists.pair(batch.answers, answers.settleField(crawl, page.call, page.id), answer)
  return answer
end

-- Writes what the settles of the call add up to.
local function saveBatch(crawl, batch)
  removeDone(crawl, batch.done)
  for i, name in ipairs(crawl.args.counters) do counters.add(crawl, name, batch.sums[i]) end
  leaseRecords.finish(crawl, batch.endedIds, batch.ended)
  for _, latency in ipairs(batch.latencies) do autothrottle.adjust(crawl, unpack(latency)) end
  lists.send('RPUSH', crawl.keys.items, batch.items)
  if #batch.ignored > 0 then
    lists.send('RPUSH', crawl.keys.ignored, batch.ignored)
    redis.call('LTRIM', crawl.keys.ignored, -limits.MAX_IGNORED, -1)
  end
  feeds.append(crawl, batch.files, batch.feedItems)
  feeds.append(crawl, batch.pipelines, batch.pipelineItems or {})
  cookies.save(crawl)
  if batch.settled > 0 then reader.add(crawl.keys.settled, crawl.caller, batch.settled) end
  dupefilters.agree(crawl)
  budgets.closeWhenSpent(crawl)
  answers.keepSettles(crawl, batch.answers)
end

-- Judges the settles of a call, and commits them. Returns what the verb returns.
function settle.run(crawl)
  local settles, batch, ids, replies = crawl.args.settles, openBatch(crawl), {}, {}
  for n, page in ipairs(settles) do ids[n] = page.id end
  local held = leaseRecords.read(crawl, ids)
  for n, page in ipairs(settles) do replies[n] = settleOne(crawl, batch, page, held[n]) end
  if #batch.ended > 0 then saveBatch(crawl, batch) end
  return replies
end

verbs.register('settle', { 'allow-oom', 'crawl', 'accepts' }, function(crawl) return settle.run(crawl) end)
