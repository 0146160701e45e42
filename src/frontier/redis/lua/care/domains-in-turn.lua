-- A few domains with pending requests are checked with each heartbeat of a node, in turn. One whose record or entry of `ready` or
-- `waiting` was deleted is found again also while other domains keep the nodes busy, so that stall.lua sees nothing.
--
-- meta.domains_looked: the last domain that was checked
local AT_ONCE = 10

-- The domains of the queue after `name`, by their bytes, and whether these are the last.
local function domainsAfter(crawl, name)
  local found, from = {}, name and '[' .. name .. '\1' or '-'
  while #found < AT_ONCE do
    local member = redis.call('ZRANGEBYLEX', crawl.keys.queue, from, '+', 'LIMIT', '0', '1')[1]
    if not member then return found, true end
    local domain = string.match(member, '^([^%z]+)%z')
    if domain then
      found[#found + 1] = domain
      from = '[' .. domain .. '\1'
    else
      from = '(' .. member
    end
  end
  return found, false
end

-- Whether the entry is there that its record says.
local function hasEntry(crawl, d)
  if d.state == 'ready' then return redis.call('ZSCORE', crawl.keys.ready, d.head .. d.name) end
  if d.state == 'waiting' then return redis.call('ZSCORE', crawl.keys.waiting, d.name) end
  return d.state == 'full' and d.active > 0
end

-- O(log n) for each domain that is whole.
function domainsInTurn.check(crawl)
  -- The queue is read as it is stored: also what this call has put into it must be there.
  domains.save(crawl)
  if meta.get(crawl, 'repairing') or meta.get(crawl, 'restoring') then return end
  local names, isLast = domainsAfter(crawl, meta.get(crawl, 'domains_looked'))
  domains.load(crawl, names)
  for _, name in ipairs(names) do
    local head = queue.sortKeys(crawl, name, 1)[1]
    local hasRecord = redis.call('HEXISTS', crawl.keys.domains, name) == 1
    local d = hasRecord and domains.of(crawl, name) or domains.rebuilt(crawl, name)
    if hasRecord and head and (d.head ~= head or not hasEntry(crawl, d)) then
      -- Its entry is written anew, wherever the domain belongs.
      d.readyHead, d.head = d.state == 'ready' and hasEntry(crawl, d) and d.head, head
      reader.noteUnreadable(crawl, 1)
      domains.markChanged(crawl, d)
    end
  end
  meta.set(crawl, 'domains_looked', isLast and '' or names[#names])
end
