-- Accepts the requests of a transfer in their partition. O(n log m).
-- args: kind (seeds | seeds-filtered) · of: crawl of partition 0 · from: number of the first · isFirst: no earlier transfer
--   is under way · requests (acceptance.lua) · queueClass, epoch: for a new meta
-- Returns JSON as push.lua; null where an earlier one must arrive first.
verbs.register('receive_transfer', { 'creates-crawl', 'accepts' }, function(crawl, args)
  local name = 'received:' .. args.of
  local received = meta.number(crawl, name)
  if args.from < received then return cjson.encode({ accepted = 0, duplicates = 0 }) end
  if args.from > received and not args.isFirst then return 'null' end
  dupefilters.agree(crawl)
  local answer = acceptance.accept(crawl, args.requests, args.kind)
  meta.set(crawl, name, args.from + #args.requests.ids)
  meta.add(crawl, 'from_others', answer.accepted)
  return cjson.encode(answer)
end)
