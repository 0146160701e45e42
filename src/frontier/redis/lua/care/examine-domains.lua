-- What the record of a domain says, beside its queue, its leases, `ready` and `waiting`: a view (DomainView in
-- src/frontier/care/care-store.ts).

local function wakes(crawl, d)
  local score = redis.call('ZSCORE', crawl.keys.waiting, d.name)
  if not score then return 'never' end
  local isRight = math.abs((tonumber(score) or math.huge) - math.max(d.nextAt, d.blockedUntil)) <= 1
  return isRight and 'in time' or 'at another instant'
end

-- Adds the view of a domain from its record, which is false where there is none.
function examineDomains.view(crawl, name, packed, leased, found)
  local d, view = packed and domains.unpack(name, packed), { name = name, leased = leased }
  found.views[#found.views + 1] = view
  view.isMissing, view.isUnreadable = not packed, packed and not d
  if not d then return end
  local first = queue.sortKeys(crawl, name, 1)[1] or ''
  view.state, view.active, view.pending = d.state, d.active, first == '' and 0 or 1
  -- When two requests have the same order, either may be the head.
  view.knowsFirst = queue.orderOf(first) == queue.orderOf(d.head)
  view.isReady = redis.call('ZSCORE', crawl.keys.ready, d.head .. name) and true or false
  view.wakes, view.waitsTooLong = wakes(crawl, d), delayTimer.waitsTooLong(crawl, d)
end

function examine.domains(crawl, page, found)
  local byDomain
  for i = 1, #page, 2 do
    local name, d = page[i], domains.unpack(page[i], page[i + 1])
    local isBusy = d and (d.active > 0 or d.state == 'full')
    if isBusy and not byDomain then byDomain = examineLeases.byDomain(crawl) end
    examineDomains.view(crawl, name, page[i + 1], isBusy and byDomain[name] or 0, found)
  end
end

-- Whether an entry of `ready` is the best request of its domain.
local function isHead(entry, packed)
  local d = domains.unpack('', packed)
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
