-- Accept requests: store, order and record the unseen ones in one step, or none of them.
-- Atomic: between recording a fingerprint and queueing its request a crash would lose the URL for good.
--
-- args: kind (links | seeds | seeds-filtered | start) · queueClass, epoch: for a new meta; no epoch: make none ·
--   requests (acceptance.lua) · from, total: of start requests the index of the first, and how many there are
-- A long list of start requests comes in parts, in order; each is accepted once, whichever node brings it.
-- A new meta has no shape yet: the first node to join decides it. A shape that was agreed holds for pushes as well.
-- Returns accepted, duplicates, dropped, by name. O(n log m) for n requests on m pending.
verbs.register('push', {}, function(crawl, args)
  meta.create(crawl, args.queueClass, args.epoch)
  meta.read(crawl)
  acceptance.check(crawl)
  local first = answers.first(crawl)
  if first then return verbs.named(first) end
  -- meta.start: how many start requests were pushed, or `pushed` when all were.
  local pushed = meta.get(crawl, 'start') == 'pushed' and math.huge or meta.number(crawl, 'start')
  if args.kind == 'start' and args.from > pushed then
    verbs.refuse('CRAWLNODE_GONE the start requests before these are gone')
  end
  answers.forgetArrived(crawl)
  dupefilters.agree(crawl)
  local count = #args.requests.ids
  local answer = { accepted = 0, duplicates = count, dropped = 0 }
  if args.kind ~= 'start' or args.from == pushed then
    answer = acceptance.accept(crawl, args.requests, args.kind)
    local last = (args.from or 0) + count
    if args.kind == 'start' then meta.set(crawl, 'start', last >= args.total and 'pushed' or last) end
  end
  answers.keep(crawl, answer)
  verbs.save(crawl)
  return verbs.named(answer)
end)
