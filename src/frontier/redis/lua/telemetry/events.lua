-- What happened to a crawl: the last events, see src/frontier/telemetry/stored-telemetry.ts for the fields of HASH `telemetry`.

local REASONS = { ['retry-after'] = 'retry_after', autothrottle = 'no_answer' }

-- Adds an event. fields: those of its kind (CrawlEvent in types/telemetry.ts). agoMs: how long ago it was; absent for now.
function events.add(crawl, kind, fields, agoMs)
  local number = reader.add(crawl.keys.telemetry, 'events', 1)
  fields.number, fields.kind, fields.atMs = number, kind, crawl.wallMs - (agoMs or 0)
  redis.call('HSET', crawl.keys.telemetry, 'event:' .. lists.digits(number % limits.MAX_EVENTS), cjson.encode(fields))
end

-- A domain is left alone for all nodes, since it asked for that or does not answer. The event of the first one counts the others
-- soon after it, so that a crawl of many domains does not lose all other events.
function events.domainPaused(crawl, domain, forMs, source)
  if forMs < limits.TOLD_PAUSE_MS or not REASONS[source] then return end
  local at = crawl.keys.telemetry
  local number = reader.number(redis.call('HGET', at, 'events')) or 0
  local field = 'event:' .. lists.digits(number % limits.MAX_EVENTS)
  local text = redis.call('HGET', at, field)
  local last = text and reader.json(text)
  local isLast = type(last) == 'table' and last.kind == 'domain_paused'
  if isLast and crawl.wallMs - (tonumber(last.atMs) or 0) < limits.PAUSES_TOGETHER_MS then
    last.more = (tonumber(last.more) or 0) + 1
    redis.call('HSET', at, field, cjson.encode(last))
    return
  end
  events.add(crawl, 'domain_paused', { domain = domain, forMs = forMs, reason = REASONS[source], more = 0 })
end

-- A node was declared dead: the event, and what stats show of it for a day.
function events.nodeDied(crawl, incarnation)
  local at, info, held = crawl.keys.telemetry, nodes.info(crawl, incarnation), nodes.held(crawl, incarnation)
  local found, dead = redis.call('HMGET', at, 'dead', 'node:' .. incarnation), {}
  for _, node in ipairs(found[1] and reader.json(found[1]) or {}) do
    local diedAtMs = type(node) == 'table' and tonumber(node.diedAtMs)
    if diedAtMs and diedAtMs > crawl.wallMs - limits.DEAD_NODES_FOR_MS then dead[#dead + 1] = node end
  end
  if #dead >= limits.MAX_DEAD_NODES then table.remove(dead, 1) end
  local id = nodes.idOf(crawl, incarnation)
  local ids = held > 0 and leaseRecords.of(crawl, incarnation, limits.MAX_HELD_IDS) or {}
  for i, requestId in ipairs(ids) do ids[i] = lists.hex(requestId) end
  dead[#dead + 1] = { id = id, host = info.host or '', pid = info.pid or 0, startedAt = info.startedAt or 0,
    diedAtMs = crawl.wallMs, requests = held, held = ids,
    pages = reader.number(redis.call('HGET', crawl.keys.settled, incarnation)) or 0,
    facts = found[2] and reader.json(string.match(found[2], ' (.*)') or '') or cjson.null }
  redis.call('HSET', at, 'dead', cjson.encode(dead))
  counters.add(crawl, 'nodes/died', 1)
  events.add(crawl, 'node_died', { node = id, requests = held })
end
