-- I3: each lease belongs to a registered incarnation, whose count of leases is right. I6: so is that of each domain. All
-- leases are read at one instant: they are as many as the nodes process at a time.

-- All ids, those of leases that cannot be read, and how many leases each node and each domain has.
local function readAll(crawl)
  local all = { ids = {}, unreadable = {}, byNode = {}, byDomain = {}, ofNode = {} }
  local rows = redis.call('HGETALL', crawl.keys.leases)
  for i = 1, #rows, 2 do
    local isWhole, lease = pcall(leaseRecords.unpack, rows[i + 1])
    all.ids[#all.ids + 1] = rows[i]
    if isWhole and lease.domain ~= '' then
      all.byNode[lease.node] = (all.byNode[lease.node] or 0) + 1
      all.byDomain[lease.domain] = (all.byDomain[lease.domain] or 0) + 1
      all.ofNode[rows[i]] = lease.node
    else
      all.unreadable[#all.unreadable + 1] = rows[i]
    end
  end
  return all
end

local function compare(crawl, names, leased, found)
  for i, packed in ipairs(lists.read('HMGET', crawl.keys.domains, names)) do
    local name, count = names[i], leased[names[i]] or 0
    local d = packed and examineDomains.readable(name, packed)
    if not d and count > 0 then
      examine.breach(found, 'I6: %s has %d leased requests and no record', name, count)
    elseif d and d.active ~= count then
      examine.breach(found, 'I6: %s has %d leased requests and an active count of %d', name, count, d.active)
    end
    if d and d.state == 'full' and count == 0 then examine.breach(found, 'I7: %s is full with nothing leased', name) end
  end
end

-- Compares the counts of domains that say they have leases, or are full.
function examineLeases.compareDomains(crawl, names, found)
  if #names > 0 then compare(crawl, names, readAll(crawl).byDomain, found) end
end

function examine.leases(crawl, _, found)
  local at, all, names, held = crawl.keys, readAll(crawl), {}, {}
  examine.states(crawl, all.ids, 'leased', found)
  for _, id in ipairs(all.unreadable) do examine.breach(found, 'I3: the lease of %s cannot be read', lists.hex(id)) end
  for id, node in pairs(all.ofNode) do
    if not (redis.call('ZSCORE', at.nodes, node) or redis.call('ZSCORE', at.dead, node)) then
      examine.breach(found, 'I3: request %s is leased to %s, which is not registered', lists.hex(id), node)
    end
  end
  local counts = redis.call('HGETALL', at.held)
  for i = 1, #counts, 2 do held[counts[i]] = counts[i + 1] end
  for node in pairs(all.byNode) do held[node] = held[node] or '0' end
  for node, stored in pairs(held) do
    local real = all.byNode[node] or 0
    if tonumber(stored) ~= real then
      examine.breach(found, 'I3: %s is said to hold %s leases and holds %d', node, stored, real)
    end
  end
  for name in pairs(all.byDomain) do names[#names + 1] = name end
  compare(crawl, names, all.byDomain, found)
end
