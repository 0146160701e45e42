-- All leases, which are read at one instant: they are as many as the nodes process at a time.

-- Calls `visit(id, lease)` for each; lease is nil where it cannot be read.
local function each(crawl, visit)
  local rows = redis.call('HGETALL', crawl.keys.leases)
  for i = 1, #rows, 2 do
    local lease = leaseRecords.unpack(rows[i + 1])
    visit(rows[i], lease and lease.domain ~= '' and lease or nil)
  end
end

-- How many leases each domain has.
function examineLeases.byDomain(crawl)
  local counts = {}
  each(crawl, function(_, lease)
    if lease then counts[lease.domain] = (counts[lease.domain] or 0) + 1 end
  end)
  return counts
end

-- found.nodes: JSON of { name, held: what is stored, leased: what it holds } of each node. Views of all domains with leases.
function examine.leases(crawl, _, found)
  local at, ids, held, nodes, byDomain = crawl.keys, {}, {}, {}, examineLeases.byDomain(crawl)
  each(crawl, function(id, lease)
    ids[#ids + 1] = id
    if not lease then
      examine.breach(found, 'I3: the lease of %s cannot be read', lists.hex(id))
    else
      held[lease.node] = (held[lease.node] or 0) + 1
      if not (redis.call('ZSCORE', at.nodes, lease.node) or redis.call('ZSCORE', at.dead, lease.node)) then
        examine.breach(found, 'I3: request %s is leased to %s, which is not registered', lists.hex(id), lease.node)
      end
    end
  end)
  examine.states(crawl, ids, 'leased', found)
  local counts = redis.call('HGETALL', at.held)
  for i = 1, #counts, 2 do
    nodes[#nodes + 1] = { name = counts[i], held = counts[i + 1], leased = held[counts[i]] or 0 }
    held[counts[i]] = nil
  end
  for node, leased in pairs(held) do nodes[#nodes + 1] = { name = node, held = '0', leased = leased } end
  found.nodes = cjson.encode(nodes)
  for name, leased in pairs(byDomain) do
    examineDomains.view(crawl, name, redis.call('HGET', at.domains, name), leased, found)
  end
end
