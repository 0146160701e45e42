-- The shared record of a crawl and its run: a HASH by field name, read by field, written back once by meta.save.
--
--   version              data format
--   fields               the number of all other fields: one that somebody deletes is noticed
--   epoch                rises whenever a fingerprint may have been forgotten; random at first
--   crawl                tells this crawl from one of the same name before a reset
--   queue                PriorityQueue | FifoQueue | LifoQueue
--   shape, dupefilter    JSON; '' until agreed
--   clock, clock_ahead   the last instant, and by how much it was ahead of the server's clock, see base/clock.lua
--   began, seen_since    instants: the crawl began; its dupefilter was last emptied
--   control              running | paused | stopping
--   accepted, done, removed   requests counted since the crawl began
--   lost                 requests whose records vanished, see requests/losses.lua; also items that a repair missed in outboxes,
--                        each of which it counts as accepted
--   arrival              the last one given, in µs
--   start, start:KEY     start requests pushed so far, or `pushed` when all were: without arguments, and under each set of
--                        arguments (run-arguments.ts)
--   has_start            whether the spider has start requests
--   start_owner          the incarnation that runs start() of the spider
--   has_idle             whether the nodes have hooks for an idle crawl
--   idle_owner, idle_leased   the incarnation that asks them now, and run_leased when it began
--   idle_asked, idle_asked_at   run_leased when they gave nothing last, and the instant
--   run_args, run_start  arguments of the run as JSON; the name of its field above
--   delay, randomize, limit, node_timeout, failed_limit, queue_limit, memory_limit, pages_per_domain, slots, autothrottle   the tunables, as
--     text: the last two are JSON, see domains/domain-limits.lua and domains/autothrottle.lua
--   run, run_started, run_ended, run_closed, closing, closing_at, closing_limit   the run, and why it closes or closed
--   run_leased, run_items, run_errors, run_failed, run_accepted   what all nodes of the run have counted
--   run_error_pages      done requests of the run whose pages answered with an error
--   run_counters         JSON: the counters that the run began with
--   run_good             1 once a page of the run was processed
--   budgets              what the run may use up, see requests/budgets.lua
--   volunteer, hungry, hungry_at, idle_since   see leases/suspects.lua, leases/fair-share.lua,
--     requests/completion.lua
--   stored_bytes         what the crawl took in the store when it was last measured, under a memory_limit
--   killed_at, killed_before   when the last two nodes died that were not processing a suspect, see nodes/recover.lua
--   cookies, cookies_floor   versions of the cookies, see cookies/cookies.lua
--   early                pages with links that they pushed before their settles, see requests/early-links.lua
--   queued_domains       domains that have pending requests, see domains/domains.lua
--   marks, marks_gone, marks_expire, pieces, pieces_looked   see dupefilters/marks.lua, dupefilters/pieces.lua
--   feed:NAME            1: the feed has a checkpoint, see feeds/feeds.lua
--   came_back            records in no queue, of lost requests or of such as are done, see care/stall.lua
--   stall_since, stall_owner, stall_tried, stall_left, stall_drains   see care/stall.lua
--   domains_looked       see care/domains-in-turn.lua
--   starts_again         1: the dupefilter was emptied, so the next run pushes its start requests again
--   restoring, restored, restored_from, repairing   a restore or a repair under way
--   repair_found         requests that waited, were leased or had failed when the repair began
--
-- '' is the same as none.

-- What the verbs of every page read. They are read together. Other fields are read on demand, about 1 µs each.
local OFTEN = { 'version', 'epoch', 'queue', 'dupefilter', 'control', 'done', 'accepted', 'arrival', 'limit', 'delay',
  'budgets', 'closing', 'lost', 'run_leased', 'run_items', 'run_accepted', 'run_good', 'queue_limit', 'memory_limit', 'stored_bytes', 'volunteer', 'hungry', 'idle_since',
  'slots', 'autothrottle', 'cookies', 'pages_per_domain', 'marks', 'marks_gone', 'marks_expire', 'early',
  'clock', 'clock_ahead', 'fields', 'stall_drains' }

-- Those of them that are counted up: a verb would begin at 0 again where somebody overwrote one. The tunables are in domain-limits.lua.
local COUNTED = { 'epoch', 'done', 'accepted', 'arrival', 'lost', 'run_leased', 'run_items', 'run_accepted', 'cookies', 'marks',
  'marks_gone', 'early', 'fields' }

-- Keys that a crawl without a record has not got. What a reset may leave is not among them.
local OF_CRAWL = { 'requests', 'queue', 'suspects', 'delayed', 'leases', 'failed', 'domains', 'nodes', 'dead', 'node-info' }

-- Whether the crawl has records.
function meta.exists(crawl) return redis.call('EXISTS', crawl.keys.meta) == 1 end

-- Reads it. Returns nil, or the refusal where there is none or another data format.
function meta.tryRead(crawl)
  local values = redis.call('HMGET', crawl.keys.meta, unpack(OFTEN))
  for i = 1, #OFTEN do crawl.meta[OFTEN[i]] = values[i] end
  if not values[1] then return 'CRAWLNODE_GONE the records of this crawl are gone' end
  if values[1] ~= FORMAT then return 'CRAWLNODE_FORMAT ' .. values[1] end
  clock.bridge(crawl, crawl.meta.clock, crawl.meta.clock_ahead)
  return nil
end

-- The number of fields that somebody has deleted.
function meta.missing(crawl)
  local count = reader.number(meta.get(crawl, 'fields'))
  return count and math.max(0, count + 1 - redis.call('HLEN', crawl.keys.meta)) or 1
end

-- Reads it, or refuses the call, also where somebody has deleted or overwritten fields: without them the crawl would seem to be
-- over, or begin again.
function meta.read(crawl)
  local refusal = meta.tryRead(crawl)
  if refusal then verbs.refuse(refusal) end
  for i = 1, #COUNTED do
    local value = crawl.meta[COUNTED[i]]
    if value and value ~= '' and not reader.number(value) then
      verbs.refuse('CRAWLNODE_FIELD ' .. crawl.keys.meta .. ' ' .. COUNTED[i])
    end
  end
  local missing = meta.missing(crawl)
  if missing > 0 then verbs.refuse('CRAWLNODE_FIELDS ' .. crawl.keys.meta .. ' ' .. missing) end
end

-- The first to touch a crawl makes its record; the shape comes with the first node. A node that has joined gives no
-- epoch and makes none: a record gone under it means that somebody reset the crawl or flushed the store.
-- Requests or nodes without a record were not reset: somebody deleted it, and only a repair makes it anew.
function meta.create(crawl, queueClass, epoch, isRepair)
  if not epoch or meta.exists(crawl) then return end
  local others = {}
  for i, word in ipairs(OF_CRAWL) do others[i] = crawl.keys[word] end
  if not isRepair and redis.call('EXISTS', unpack(others)) > 0 then verbs.refuse('CRAWLNODE_RECORD ' .. crawl.keys.meta) end
  -- By one command, so that a user without the right to count leaves no record that seems to lack a field.
  redis.call('HSET', crawl.keys.meta, 'version', FORMAT, 'epoch', epoch, 'crawl', epoch, 'queue', queueClass, 'control', 'running',
    'began', lists.digits(crawl.nowMs), 'fields', '6')
end

-- A field as text; false or nil where there is none.
function meta.get(crawl, name)
  local value = crawl.meta[name]
  if value == nil then
    value = redis.call('HGET', crawl.keys.meta, name)
    crawl.meta[name] = value
  end
  return value ~= '' and value
end

-- A field as a number; the default, or 0, where there is none, or no number.
function meta.number(crawl, name, default)
  local number = crawl.metaNumbers[name]
  if number then return number end
  local text = meta.get(crawl, name)
  if not text then return default or 0 end
  number = reader.number(text) or default or 0
  crawl.metaNumbers[name] = number
  return number
end

-- A text, or a whole number.
function meta.set(crawl, name, value)
  if type(value) == 'number' then value = lists.digits(value) end
  crawl.meta[name], crawl.changedMeta[name], crawl.metaNumbers[name] = value, value, nil
end

function meta.add(crawl, name, amount) meta.set(crawl, name, meta.number(crawl, name) + amount) end

-- A number that no verb of a node lowers: where it is lower than before, somebody has put the crawl back as it was earlier. Nil where
-- the record was not read.
function meta.progress(crawl)
  return crawl.meta.version and meta.number(crawl, 'accepted') + meta.number(crawl, 'done') or nil
end

-- Invalidates the nodes' caches of seen fingerprints, since a fingerprint may have been forgotten.
function meta.raiseEpoch(crawl) meta.add(crawl, 'epoch', 1) end

-- The one way to write fields of a record, { name, value, … }, and to delete one: both keep their number.
function meta.write(crawl, fields)
  local added = lists.send('HSET', crawl.keys.meta, fields)
  if added > 0 then redis.call('HINCRBY', crawl.keys.meta, 'fields', added) end
end

function meta.drop(crawl, name)
  if redis.call('HEXISTS', crawl.keys.meta, name) == 0 then return end
  -- First: where the user lacks the right to count, no field seems to be gone.
  redis.call('HINCRBY', crawl.keys.meta, 'fields', -1)
  redis.call('HDEL', crawl.keys.meta, name)
end

-- Writes the fields that changed.
function meta.save(crawl)
  local fields = {}
  for name, value in pairs(crawl.changedMeta) do lists.pair(fields, name, value) end
  meta.write(crawl, fields)
  crawl.changedMeta = {}
end
