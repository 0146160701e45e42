-- Which server of a Cluster serves the crawl, and which data history it has: connection/data-history.ts.
-- Returns { id in the Cluster, run_id, master_replid }, or nothing where the user may not ask. O(1).
local function field(info, name) return info:match('\n' .. name .. ':(%w+)') end

function serverData.id()
  local id = redis.pcall('CLUSTER', 'MYID')
  return type(id) == 'string' and id or nil
end

verbs.register('server_data', { 'no-writes', 'allow-oom' }, function()
  local id, server, replication = serverData.id(), redis.pcall('INFO', 'server'), redis.pcall('INFO', 'replication')
  if not id or type(server) ~= 'string' or type(replication) ~= 'string' then return {} end
  return { id, field(server, 'run_id'), field(replication, 'master_replid') }
end)

-- A slot changes its server without a word to the node, which only follows a redirection. So a lease names the server that the
-- node knows. After a failover the last commits may be lost, and the node must drop its cache of seen links before it gets
-- a page whose commit was lost.
function serverData.isOther(known) return known and serverData.id() ~= known end

function serverData.refuseOther(known)
  if serverData.isOther(known) then verbs.refuse('CRAWLNODE_SERVER another server of the Cluster serves this crawl') end
end
