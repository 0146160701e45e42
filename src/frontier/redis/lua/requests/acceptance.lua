-- How requests come into the crawl: what push, intake and settle have in common.
--
-- Requests travel as columns by name, in order (request-columns.ts):
--   ids, marks     20 bytes each; fingerprints as the dupefilter stores them
--   priorities, domains, records
--   dontFilter     1 for each that bypasses the dupefilter; absent when there is none
--   carriers       1 for each that carries an item, which no limit drops; absent when there is none
--   delays         ms that each waits at first; absent when none does
-- kind: `links` pass the dupefilter. `seeds` do not, unless `seeds-judged`, are recorded all the same, and bring a failed
-- request back. `start` requests are like seeds.

-- Refuses before the first write what would fail later: another dupefilter, its key of another type, and what cannot be read.
function acceptance.check(crawl)
  dupefilters.refuseOther(crawl)
  keys.refuseOther(crawl.keys.dupefilter, crawl.args.dupefilter.type)
  if dupefilters.of(crawl).holdsAny then pieces.refuseUnreadable(crawl) end
  domainLimits.check(crawl)
end

-- Takes a request off the failed list and deletes its count of crashes. Returns whether it was on the list.
function acceptance.revive(crawl, id)
  local at = crawl.keys
  if redis.call('ZREM', at.failed, id) == 0 then return false end
  redis.call('HDEL', at.failures, id)
  redis.call('HDEL', at.crashes, id)
  return true
end

local function isJudged(kind) return kind == 'links' or kind == 'seeds-judged' end

-- The positions of the requests that pass the dupefilter, and were not pushed by their page before.
local function newOnes(crawl, requests, kind, page, isEarly)
  local seen, passed = isJudged(kind) and dupefilters.of(crawl).seen(crawl, requests.marks), {}
  local known = earlyLinks.known(crawl, requests, page, isEarly)
  for i = 1, #requests.ids do
    local dontFilter = requests.dontFilter and requests.dontFilter[i] == 1
    if dontFilter then
      if not known or known[i] == 0 then passed[#passed + 1] = i end
    elseif not seen or seen[i] == 0 then
      passed[#passed + 1] = i
    end
  end
  return passed
end

-- Puts an accepted request into the queue, or among the delayed ones. Returns its record as it is stored.
local function enqueue(crawl, requests, i, delayed)
  local id, domain, delay = requests.ids[i], requests.domains[i], requests.delays and requests.delays[i] or 0
  if delay > 0 then
    local dueAt = crawl.nowMs + math.ceil(delay)
    delayed[requests.marks[i]] = true
    return storedRecord.pack(requests.records[i], queue.delay(crawl, domain, requests.priorities[i], id, dueAt), dueAt)
  end
  local arrival = queue.nextArrival(crawl)
  queue.add(crawl, domain, queue.order(crawl, requests.priorities[i], arrival) .. id)
  return storedRecord.pack(requests.records[i], arrival)
end

-- Accepts the requests that are new. Links are dropped when the queue holds twice its limit: they are not recorded, so that
-- they are new again when there is room; likewise beyond the limit of pages per domain.
-- page: the id of the page that has the links; nil for requests of no page. isEarly: it pushes them before its settle.
-- Returns { accepted, duplicates, dropped, trapped: beyond that limit; both nil for 0 }, and whether the dupefilter now holds
-- all but those with dontFilter.
function acceptance.accept(crawl, requests, kind, page, isEarly)
  -- A seed is taken whatever was seen, but the links of its page are not.
  if kind ~= 'links' then marks.look(crawl) end
  local passed = newOnes(crawl, requests, kind, page, isEarly)
  local ids, wantedDomains = {}, {}
  for n, i in ipairs(passed) do ids[n], wantedDomains[n] = requests.ids[i], requests.domains[i] end
  local stored = lists.read('HMGET', crawl.keys.requests, ids)
  domains.load(crawl, wantedDomains)
  local quota = pageQuota.open(crawl, wantedDomains)
  local room = kind == 'links' and queueLimit.roomForLinks(crawl) or math.huge
  -- Beyond FAILED_LIMIT a failed request has no record, but it is still live.
  local anyFailed = redis.call('ZCARD', crawl.keys.failed) > 0
  local taken, records, passedMarks, delayed, dontFilterIds = {}, {}, {}, {}, {}
  local accepted, brandNew, dropped, trapped, unseen = 0, 0, 0, 0, 0
  for n, i in ipairs(passed) do
    local id, dontFilter = ids[n], requests.dontFilter and requests.dontFilter[i] == 1
    local isLive = taken[id] or stored[n] or (anyFailed and redis.call('ZSCORE', crawl.keys.failed, id))
    local isRevived = isLive and not taken[id] and kind ~= 'links' and acceptance.revive(crawl, id)
    local carriesItem = requests.carriers and requests.carriers[i] == 1
    if not isLive and accepted >= room and not carriesItem then
      dropped = dropped + 1
    elseif not isLive and quota and kind == 'links' and not carriesItem and pageQuota.isUsedUp(quota, wantedDomains[n]) then
      trapped = trapped + 1
    elseif isRevived or not isLive then
      taken[id] = true
      accepted = accepted + 1
      if not isRevived then
        brandNew = brandNew + 1
        if quota then pageQuota.take(quota, wantedDomains[n]) end
      end
      lists.pair(records, id, enqueue(crawl, requests, i, delayed))
      if dontFilter then dontFilterIds[#dontFilterIds + 1] = id else passedMarks[#passedMarks + 1] = requests.marks[i] end
    elseif not dontFilter and not taken[id] then
      unseen = unseen + 1
    end
  end
  lists.send('HSET', crawl.keys.requests, records)
  marks.add(crawl, dupefilters.of(crawl).record(crawl, passedMarks, delayed, isJudged(kind)))
  if isEarly then earlyLinks.keep(crawl, page, dontFilterIds) end
  if quota then pageQuota.save(crawl, quota) end
  if brandNew > 0 then meta.add(crawl, 'accepted', brandNew) end
  if accepted > 0 then meta.add(crawl, 'run_accepted', accepted) end
  local duplicates = #requests.ids - accepted - dropped - trapped
  counters.add(crawl, 'scheduler/enqueued', accepted)
  counters.add(crawl, 'scheduler/dropped', dropped)
  counters.add(crawl, 'trap/domain_pages', trapped)
  counters.add(crawl, 'dupefilter/filtered', duplicates)
  return { accepted = accepted, duplicates = duplicates, dropped = dropped > 0 and dropped or nil,
    trapped = trapped > 0 and trapped or nil }, unseen + dropped + trapped == 0
end
