-- How a verb is registered and called. LIBRARY and FORMAT stand before this file (library.ts).
--
-- Every verb takes all keys of the crawl (keys.lua) and one argument, a MessagePack map by name:
--   caller      an incarnation, or a client that never joined
--   call        number of the call, unique per caller
--   crawl       id of the crawl that the caller has joined; absent for none
--   newest      the highest meta.progress that the caller has seen; absent where an older store is nothing to it
--   arrived     answers that the caller has received, which can be deleted (answers.lua)
--   sharesDupefilter   its key is also that of other crawls
--   dupefilter  { text, class, … }: the dupefilter of the caller's settings (request-columns.ts)
-- and the verb's own, which its header lists. An id is 20 raw bytes. Instants and durations are in ms.
local REDIS_FLAGS = { ['allow-oom'] = true, ['no-writes'] = true }

local function crawlOf(KEYS, args, savesClock)
  local time = redis.call('TIME')
  local wallMs, wallUs = time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
  return {
    KEYS = KEYS, keys = keysByName(KEYS),
    startUrls = keys.startUrls(KEYS),
    args = args,
    caller = args.caller,
    wallMs = wallMs, wallUs = wallUs, nowMs = wallMs, nowUs = wallUs, aheadMs = 0, -- clock.lua
    savesClock = savesClock,
    meta = {}, metaNumbers = {}, changedMeta = {}, -- meta.lua
    decoded = {}, -- domains/domain-limits.lua
    counters = {}, -- counters.lua
    newMembers = {}, -- queue.lua
    domains = {}, dirtyDomains = {}, reclassifyDomains = {}, -- domains.lua
  }
end

-- body(crawl, args) is the verb. crawl holds all state of one call; nothing is kept between calls.
-- flags: those of Redis, and what a verb wants before its body:
--   creates-crawl   the record of a crawl that does not exist yet is made, with args.queueClass and args.epoch
--   crawl-if-any    without a crawl nothing is done, and nothing returned
--   crawl           the record is read, or the call refused; what the body changes is saved. Where that writes, and with
--                   the two above, keys of another type are refused
--   live-node       a caller that is not live in the crawl is refused; likewise a dupefilter of another type
--   accepts         another dupefilter, and keys of another type, are refused
--   once            a call that is sent again gets its first answer
function verbs.register(name, flags, body)
  local redisFlags, wants, isReading = {}, {}, false
  -- A library that is being loaded has no ipairs.
  for i = 1, #flags do
    if REDIS_FLAGS[flags[i]] then redisFlags[#redisFlags + 1] = flags[i] else wants[flags[i]] = true end
    isReading = isReading or flags[i] == 'no-writes'
  end
  local isOfCrawl = wants.crawl or wants['crawl-if-any'] or wants['creates-crawl']
  local savesClock = isOfCrawl and not isReading
  redis.register_function({
    function_name = LIBRARY .. '_' .. name,
    flags = redisFlags,
    callback = function(KEYS, ARGV)
      return verbs.run(body, KEYS, cmsgpack.unpack(ARGV[1]), wants, isOfCrawl, savesClock)
    end,
  })
end

-- Returns { LIBRARY, which shows that the answer is ours, the answer, meta.progress }.
function verbs.run(body, KEYS, args, wants, isOfCrawl, savesClock)
  local crawl = crawlOf(KEYS, args, savesClock)
  if savesClock then keys.refuseForeign(KEYS) end
  if wants['crawl-if-any'] and not meta.exists(crawl) then return { LIBRARY } end
  if wants['creates-crawl'] then meta.create(crawl, args.queueClass, args.epoch) end
  if isOfCrawl then meta.read(crawl) end
  if wants['live-node'] then
    nodes.refuseDead(crawl)
    keys.refuseOther(crawl.keys.dupefilter, args.dupefilter.type)
    domainLimits.check(crawl)
  end
  if wants.accepts then acceptance.check(crawl) end
  if args.newest then nodes.refuseOlder(crawl) end
  if args.arrived then answers.forgetArrived(crawl) end
  local first = wants.once and answers.first(crawl)
  if first then return { LIBRARY, first, meta.progress(crawl) } end
  local answer = body(crawl, args)
  if wants.once then answers.keep(crawl, answer) end
  if isOfCrawl then verbs.save(crawl) end
  return { LIBRARY, answer or false, meta.progress(crawl) }
end

-- Ends the call with an error. Scripts have no rollback, so call this only before the first write.
function verbs.refuse(message) error({ err = message }) end

-- A reply by name that contains bytes: { name, value, name, value … }. True is 1 and false is null. Without bytes it is JSON.
function verbs.named(fields)
  local reply = {}
  for name, value in pairs(fields) do lists.pair(reply, name, value) end
  return reply
end

-- Writes what a call has changed in memory.
function verbs.save(crawl)
  domains.save(crawl)
  counters.save(crawl)
  meta.save(crawl)
end
