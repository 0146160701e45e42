-- Ends leases: what settle.lua and settle-and-lease.lua have in common.
--
-- args.settles, no two of one lease, each by name:
--   id, call            the lease: its request, and the call that gave it
--   kind                done | retry | failed | released
--   epoch               epoch of the sender's cache of seen links, where it withheld links because of it
--   status, attempts    HTTP status or 0; number of downloads so far
--   afterMs, priority, record   of a retry
--   failure             of one that failed: JSON of why
--   noPage              of one that is done, NoPage of frontier.ts; absent where its page was processed
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
local function conclude(crawl, settle, lease, done)
  local id = settle.id
  if settle.kind == 'done' then
    local n = #done.ids + 1
    done.ids[n], done.statuses[n], done.attempts[n] = id, settle.status, settle.attempts
    if lease.crashes > 0 then done.crashed[#done.crashed + 1] = id end
    if settle.noPage == 'error' then meta.add(crawl, 'run_error_pages', 1) end
    if not settle.noPage and not meta.get(crawl, 'run_good') then meta.set(crawl, 'run_good', '1') end
  elseif settle.kind == 'retry' then
    redis.call('HSET', crawl.keys.requests, id, settle.record)
    queue.delay(crawl, lease.domain, settle.priority, id, crawl.nowMs + settle.afterMs)
    state.note(crawl, { id }, 'delayed', { settle.status }, { settle.attempts })
  elseif settle.kind == 'failed' then
    state.note(crawl, { id }, 'failed', { settle.status }, { settle.attempts })
    leases.fail(crawl, id, settle.failure)
  else
    leases.release(crawl, id, lease)
  end
  if settle.unstarted then meta.set(crawl, 'run_pages', math.max(0, meta.number(crawl, 'run_pages') - 1)) end
end

-- Adds its counters to `sums`, its items to theirs, and what counts against the budgets. pipelineItems is nil where no
-- pipeline takes them.
local function addCountsAndItems(crawl, settle, sums, items, feedItems, pipelineItems)
  local counts = settle.counts
  for i = 1, #counts do sums[i] = sums[i] + counts[i] end
  lists.append(items, settle.items)
  lists.append(feedItems, settle.feedItems)
  for number, item in ipairs(pipelineItems and settle.feedItems or {}) do
    pipelineItems[#pipelineItems + 1] = feeds.withId(settle, number, item)
  end
  if settle.scraped then meta.add(crawl, 'run_items', settle.scraped) end
  if settle.errors then meta.add(crawl, 'run_errors', settle.errors) end
end

-- Whether the node still holds the lease. If not, its settle has no effect.
local function isOurs(crawl, settle, lease)
  return lease and lease.node == crawl.caller and lease.call == settle.call
end

-- Judges the settles of a call, and commits them. Returns for each what settle.lua says.
function settling.run(crawl)
  local settles, epoch, isLive = crawl.args.settles, meta.get(crawl, 'epoch'), nodes.isLive(crawl, crawl.caller)
  local ids, replies, kept = {}, {}, {}
  for n, settle in ipairs(settles) do ids[n] = settle.id end
  local found = leases.read(crawl, ids)
  -- The answer where there are no links.
  local plain = cjson.encode({ committed = true, epoch = epoch, allSeen = true, accepted = 0, duplicates = 0 })
  local names, sums = crawl.args.counters, {}
  for i = 1, #names do sums[i] = 0 end
  local endedIds, ended, items, feedItems, pages = {}, {}, {}, {}, 0
  local files, pipelines = feeds.byKind(crawl.args.feeds)
  local pipelineItems = #pipelines > 0 and {} or nil
  local done = { ids = {}, crashed = {}, statuses = {}, attempts = {} }
  local latencies, isThrottled = {}, autothrottle.isOn(crawl)
  for n, settle in ipairs(settles) do
    local lease = found[n]
    if not isLive or not isOurs(crawl, settle, lease) then
      -- Lost, unless this is a repetition of a settle that ended the lease: then its first answer.
      replies[n] = answers.firstOfSettle(crawl, settle.call, settle.id) or '{"committed":false}'
    elseif settle.epoch and settle.epoch ~= epoch then
      replies[n] = '{"committed":false,"resend":true}'
    else
      endedIds[#endedIds + 1], ended[#ended + 1] = settle.id, lease
      if settle.scraped and budgets.isTooLate(crawl) then
        leases.release(crawl, settle.id, lease)
        replies[n] = '{"committed":false,"closed":true}'
      else
        replies[n] = plain
        local hasDropped = false
        if settle.requests then
          removeDone(crawl, done)
          -- While its own request is still live: a page's link to itself is a duplicate.
          local answer, allSeen = acceptance.accept(crawl, settle.requests, 'links', settle.id)
          answer.committed, answer.epoch, answer.allSeen = true, epoch, allSeen
          hasDropped = answer.dropped or answer.trapped
          replies[n] = cjson.encode(answer)
        end
        conclude(crawl, settle, lease, done)
        addCountsAndItems(crawl, settle, sums, items, feedItems, pipelineItems)
        cookies.merge(crawl, settle)
        if settle.custom then customStats.apply(crawl, settle.custom) end
        if settle.closing then
          budgets.closeWhenSpent(crawl)
          budgets.close(crawl, settle.closing, 0)
        end
        if settle.validators then validators.commit(crawl, settle, epoch, hasDropped) end
        if isThrottled and settle.latencyMs and settle.kind ~= 'released' then
          latencies[#latencies + 1] = { lease.domain, settle.latencyMs, settle.status }
        end
        if settle.kind == 'done' or settle.kind == 'failed' then pages = pages + 1 end
      end
      lists.pair(kept, answers.settleField(crawl, settle.call, settle.id), replies[n])
    end
  end
  if #ended > 0 then
    removeDone(crawl, done)
    for i = 1, #names do counters.add(crawl, names[i], sums[i]) end
    leases.finish(crawl, endedIds, ended)
    for i = 1, #latencies do autothrottle.adjust(crawl, unpack(latencies[i])) end
    lists.send('RPUSH', crawl.keys.items, items)
    feeds.append(crawl, files, feedItems)
    feeds.append(crawl, pipelines, pipelineItems or {})
    cookies.save(crawl)
    if pages > 0 then redis.call('HINCRBY', crawl.keys.pages, crawl.caller, pages) end
    dupefilters.agree(crawl)
    budgets.closeWhenSpent(crawl)
    answers.keepSettles(crawl, kept)
  end
  return replies
end
