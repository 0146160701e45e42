-- I7: the record of each domain agrees with its queue, and with `ready` and `waiting`. I6: so does its count of leases.
local SORT_KEY = 32

-- A domain from its record; nil where it cannot be read.
function examineDomains.readable(name, packed)
  local isWhole, d = pcall(domains.unpack, name, packed)
  return isWhole and d.state and (#d.head == 0 or #d.head == SORT_KEY) and d or nil
end

local function waitsUntil(d, score)
  return score and math.abs((tonumber(score) or math.huge) - math.max(d.nextAt, d.blockedUntil)) <= 1
end

local function check(crawl, d, found)
  local best = queue.sortKeys(crawl, d.name, 1)[1] or ''
  local function note(sentence) examine.breach(found, 'I7: %s ' .. sentence, d.name, d.state) end
  -- When two requests have the same order, either may be the head.
  if queue.orderOf(best) ~= queue.orderOf(d.head) then note('does not know its best request') end
  if best ~= '' and d.state == 'idle' then note('has pending requests and is idle: they would never be leased') end
  local isReady = redis.call('ZSCORE', crawl.keys.ready, d.head .. d.name)
  local wakesAt = redis.call('ZSCORE', crawl.keys.waiting, d.name)
  if d.state == 'ready' and not isReady then note('says it is ready, and its best request is not among the ready') end
  if d.state ~= 'ready' and isReady then note('says it is %s, and is among the ready') end
  if d.state ~= 'waiting' and wakesAt then note('says it is %s, and is among the waiting') end
  if d.state == 'waiting' and not wakesAt then note('says it is waiting, and is not among the waiting') end
  if d.state == 'waiting' and wakesAt and not waitsUntil(d, wakesAt) then note('waits until another instant than its record says') end
end

function examine.domains(crawl, page, found)
  local busy = {}
  for i = 1, #page, 2 do
    local name = page[i]
    local d = examineDomains.readable(name, page[i + 1])
    if d then
      check(crawl, d, found)
      if d.active > 0 or d.state == 'full' then busy[#busy + 1] = name end
    else
      examine.breach(found, 'I7: the record of the domain %s cannot be read', name)
    end
  end
  examineLeases.compareDomains(crawl, busy, found)
end

-- Whether an entry of `ready` is the best request of its domain.
local function isHead(entry, packed)
  local d = examineDomains.readable('', packed)
  return d and d.head == queue.sortKeyOf(entry)
end

function examine.ready(crawl, page, found)
  for i = 1, #page, 2 do
    local entry = page[i]
    local name = queue.domainOf(entry)
    if not isHead(entry, redis.call('HGET', crawl.keys.domains, name)) then
      local spoken = name ~= '' and name or lists.hex(entry)
      examine.breach(found, "I7: an entry among the ready is of no domain's best request: %s", spoken)
    end
  end
end

function examine.waiting(crawl, page, found)
  for i = 1, #page, 2 do
    if redis.call('HEXISTS', crawl.keys.domains, page[i]) == 0 then
      examine.breach(found, 'I7: %s is among the waiting and has no record', page[i])
    end
  end
end
