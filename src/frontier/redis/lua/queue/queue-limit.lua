-- SCHEDULER_QUEUE_LIMIT and SCHEDULER_MEMORY_LIMIT: how many requests may wait, and what room there is for more.

local function waiting(crawl) return queue.pending(crawl) + redis.call('ZCARD', crawl.keys.delayed) end

local function isMemoryReached(crawl)
  local limit = meta.number(crawl, 'memory_limit')
  return limit > 0 and meta.number(crawl, 'stored_bytes') >= limit
end

-- Whether seeds are to stay in their keys.
function queueLimit.isReached(crawl)
  local limit = meta.number(crawl, 'queue_limit')
  return (limit > 0 and waiting(crawl) >= limit) or isMemoryReached(crawl)
end

-- How many discovered requests there is room for: links may fill the queue to twice the limit.
function queueLimit.roomForLinks(crawl)
  if isMemoryReached(crawl) then return 0 end
  local limit = meta.number(crawl, 'queue_limit')
  return limit == 0 and math.huge or math.max(0, 2 * limit - waiting(crawl))
end
