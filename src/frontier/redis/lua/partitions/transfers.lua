-- Requests of seeds on their way from partition 0, which has the start_urls keys, to the partitions of their domains. A
-- seed leaves its key in the step that puts its requests here. They are pushed to their partition in the order of their
-- numbers, and deleted here afterwards, so a node that dies in between loses nothing and pushes nothing twice.
--
-- HASH `transfers`: "partition:number of the first request" → JSON of requests. meta `sent:PARTITION`: requests so far.

function transfers.isEmpty(crawl) return not meta.get(crawl, 'partition') or redis.call('HLEN', crawl.keys.transfers) == 0 end

-- list: { to: partition, count, payload: JSON }
function transfers.add(crawl, list)
  for _, transfer in ipairs(list) do
    local name = 'sent:' .. lists.digits(transfer.to)
    local from = meta.number(crawl, name)
    redis.call('HSET', crawl.keys.transfers, lists.digits(transfer.to) .. ':' .. lists.digits(from), transfer.payload)
    meta.set(crawl, name, from + transfer.count)
  end
end

-- Accepts the requests of a transfer in their partition. O(n log m).
-- args: kind (seeds | seeds-filtered) · of: crawl of partition 0 · from: number of the first · isFirst: no earlier transfer
--   is under way · requests (acceptance.lua) · queueClass, epoch: for a new meta
-- Returns by name: status received, accepted, duplicates; or early: an earlier one must arrive first.
verbs.register('receive_transfer', {}, function(crawl, args)
  meta.create(crawl, args.queueClass, args.epoch)
  meta.read(crawl)
  acceptance.check(crawl)
  local name = 'received:' .. args.of
  local received = meta.number(crawl, name)
  if args.from < received then return verbs.named({ status = 'received', accepted = 0, duplicates = 0 }) end
  if args.from > received and not args.isFirst then return verbs.named({ status = 'early' }) end
  dupefilters.agree(crawl)
  local answer = acceptance.accept(crawl, args.requests, args.kind)
  meta.set(crawl, name, args.from + #args.requests.ids)
  answer.status = 'received'
  verbs.save(crawl)
  return verbs.named(answer)
end)
