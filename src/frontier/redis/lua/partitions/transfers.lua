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
