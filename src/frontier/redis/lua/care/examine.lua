-- A step of `doctor --deep` through one key of a crawl: what it says, beside what the other keys say of the same requests and
-- domains. It judges nothing but what only this engine has; that is done for both engines by src/frontier/care/.
-- Atomic: nothing changes its state within a step.
--
-- args: place: a key, by its name in keys.lua, or `meta` · cursor of its SCAN, and count · counted: of meta, the number of records
--   as well; or only ids: of requests
-- Returns by name: cursor of the next step, breaches: sentences, and what the functions below add:
--   ids      of the requests in this step; of `requests` those that must be in a queue · records: { id, record, … }
--   odd      { id, states of it, separated by spaces, … } of those that are in other states as well, or have no record
--   views    JSON of domains, see examine-domains.lua · nodes, totals: see examine-leases.lua and examine-crawl.lua · feeds: JSON,
--            see feeds/damaged-outboxes.lua
--   bytes    of all records in this step
--   waiting  where ids are given, and nothing else: those of them that must be in a queue
-- O(count log n); for leases O(leases), for meta O(1).
local SORT_KEY = 32
local SCANS = { requests = 'HSCAN', domains = 'HSCAN' }
local AT_ONCE = { leases = true, meta = true, feeds = true }

-- Adds a sentence about what only this engine has.
function examine.breach(found, sentence, ...) found.breaches[#found.breaches + 1] = string.format(sentence, ...) end

-- Adds requests in a state, and whether they are in others.
function examine.states(crawl, ids, state, found)
  local leased = state == 'leased' and {} or lists.read('HMGET', crawl.keys.leases, ids)
  local failed = state == 'failed' and {} or lists.read('ZMSCORE', crawl.keys.failed, ids)
  for i, id in ipairs(ids) do
    local states = state
    if redis.call('HEXISTS', crawl.keys.requests, id) == 1 then states = states .. ' record' end
    if leased[i] then states = states .. ' leased' end
    if failed[i] then states = states .. ' failed' end
    if states ~= state .. ' record' then lists.pair(found.odd, id, states) end
  end
  lists.append(found.ids, ids)
end

local function waitingAmong(crawl, ids)
  local waiting, leased = {}, lists.read('HMGET', crawl.keys.leases, ids)
  local failed = lists.read('ZMSCORE', crawl.keys.failed, ids)
  for i, id in ipairs(ids) do
    local hasRecord = redis.call('HEXISTS', crawl.keys.requests, id) == 1
    if hasRecord and not leased[i] and not failed[i] then waiting[#waiting + 1] = id end
  end
  return waiting
end

-- Only those that must be in a queue, so that a request that is leased or failed later is not missed in one.
function examine.requests(crawl, page, found)
  local ids, bytes = {}, 0
  for i = 1, #page, 2 do
    ids[#ids + 1] = page[i]
    bytes = bytes + #page[i + 1]
  end
  found.ids, found.records, found.bytes = waitingAmong(crawl, ids), page, bytes
end

function examine.feeds(crawl, _, found)
  keys.refuseForeign(crawl.KEYS)
  found.feeds = cjson.encode(damagedOutboxes.views(crawl))
end

local function entriesOf(state)
  return function(crawl, page, found)
    local ids = {}
    for i = 1, #page, 2 do ids[#ids + 1] = queue.idOf(page[i]) end
    examine.states(crawl, ids, state, found)
  end
end

examine.suspects, examine.delayed = entriesOf('pending'), entriesOf('delayed')

-- The domain of a member of `queue`; nil for what is no such member.
local function domainOf(member)
  local isMember = #member > SORT_KEY + 1 and string.find(member, '\0', 1, true) == #member - SORT_KEY
  return isMember and string.sub(member, 1, -SORT_KEY - 2) or nil
end

-- The rank of the first member of `queue` that is not before `start`.
local function rankFrom(crawl, start)
  local key = crawl.keys.queue
  local member = redis.call('ZRANGEBYLEX', key, '[' .. start, '+', 'LIMIT', '0', '1')[1]
  return member and redis.call('ZRANK', key, member) or redis.call('ZCARD', key)
end

function examine.queue(crawl, page, found)
  local ids, names = {}, {}
  for i = 1, #page, 2 do
    local name = domainOf(page[i])
    if name then
      ids[#ids + 1] = queue.idOf(string.sub(page[i], -SORT_KEY))
      names[name] = true
    else
      examine.breach(found, 'I7: an entry of the queue cannot be read')
    end
  end
  examine.states(crawl, ids, 'pending', found)
  for name in pairs(names) do
    if redis.call('HEXISTS', crawl.keys.domains, name) == 0 then
      local count = rankFrom(crawl, name .. '\1') - rankFrom(crawl, name .. '\0')
      found.views[#found.views + 1] = { name = name, isMissing = true, pending = count, leased = 0 }
    end
  end
end

local function pageOf(crawl, args)
  local place = args.place
  if AT_ONCE[place] then return { '0', {} } end
  if place == 'pieces' then return examinePieces.page(crawl, args) end
  return redis.call(SCANS[place] or 'ZSCAN', crawl.keys[place], args.cursor, 'COUNT', lists.digits(args.count))
end

verbs.register('examine', { 'no-writes' }, function(crawl, args)
  if args.ids then return verbs.named({ waiting = waitingAmong(crawl, args.ids) }) end
  local page = pageOf(crawl, args)
  clock.read(crawl)
  local found = { cursor = page[1], breaches = {}, ids = {}, odd = {}, views = {} }
  examine[args.place](crawl, page[2], found)
  found.views = cjson.encode(found.views)
  return verbs.named(found)
end)
