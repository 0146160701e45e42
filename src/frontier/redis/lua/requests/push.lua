-- Accept requests: store, order and record the unseen ones in one step, or none of them.
-- Atomic: between recording a fingerprint and queueing its request a crash would lose the URL for good.
--
-- args: kind (links | seeds | seeds-judged | start | start-generated) · queueClass, epoch: for a new meta; no epoch: make
--   none · requests (acceptance.lua) · of start requests, start: the name of their field in meta · from, total: the index of
--   the first, and how many there are; no total while more may follow · page: of links that a page pushes before its
--   settle, its id
-- A long list of start requests comes in parts, in order; each is accepted once, whichever node brings it. Those of a
-- generator (start-generated) come again from its beginning when its node died: the dupefilter judges them, except
-- that those with dontFilter are known by their index.
-- A new meta has no shape yet: the first node to join decides it. A shape that was agreed holds for pushes as well.
-- Returns JSON of accepted, duplicates, dropped, trapped (absent for 0), and of a generator's requests waiting.
-- O(n log m) for n requests on m pending.

-- Without the requests with dontFilter that were pushed before, and those that have a smaller index than `pushed`.
local function notPushed(requests, from, pushed)
  local kept = {}
  for i = 1, #requests.ids do
    local dontFilter = requests.dontFilter and requests.dontFilter[i] == 1
    if not dontFilter or from + i > pushed then kept[#kept + 1] = i end
  end
  if #kept == #requests.ids then return requests end
  local rest = {}
  for name, column in pairs(requests) do
    rest[name] = {}
    for n, i in ipairs(kept) do rest[name][n] = column[i] end
  end
  return rest
end

local function pushStart(crawl, requests, kind, args)
  local field, from, count = args.start, args.from, #requests.ids
  -- How many were pushed, or `pushed` when all were.
  local pushed = meta.get(crawl, field) == 'pushed' and math.huge or meta.number(crawl, field)
  local answer = { accepted = 0, duplicates = count }
  if from > pushed then verbs.refuse('CRAWLNODE_GONE the start requests before these are gone') end
  local isGenerated = kind == 'start-generated'
  if pushed < math.huge and (from == pushed or isGenerated) then
    if isGenerated then requests = notPushed(requests, from, pushed) end
    answer = acceptance.accept(crawl, requests, isGenerated and 'seeds-judged' or 'start')
    answer.duplicates = count - answer.accepted
    local reached = math.max(from + count, pushed)
    meta.set(crawl, field, args.total and reached >= args.total and 'pushed' or reached)
  end
  if isGenerated then answer.waiting = queue.pending(crawl) + redis.call('ZCARD', crawl.keys.delayed) end
  return answer
end

verbs.register('push', { 'creates-crawl', 'accepts', 'once' }, function(crawl, args)
  dupefilters.agree(crawl)
  local isStart = args.kind == 'start' or args.kind == 'start-generated'
  if isStart then return cjson.encode(pushStart(crawl, args.requests, args.kind, args)) end
  return cjson.encode((acceptance.accept(crawl, args.requests, args.kind, args.page, args.page ~= nil)))
end)
