-- How a verb is registered and called. LIBRARY and FORMAT stand before this file (library.ts).
--
-- Every verb takes all keys of the crawl (keys.lua) and one argument, a MessagePack map by name:
--   caller      an incarnation, or a client that never joined
--   call        number of the call, unique per caller
--   arrived     answers that the caller has received, which can be deleted (answers.lua)
--   dupefilter  { text, class, … }: the dupefilter of the caller's settings (request-columns.ts)
-- and the verb's own, which its header lists. An id is 20 raw bytes. Instants and durations are in ms.

-- body(crawl, args) is the verb. crawl holds all state of one call; nothing is kept between calls.
function verbs.register(name, flags, body)
  redis.register_function({
    function_name = LIBRARY .. '_' .. name,
    flags = flags,
    callback = function(KEYS, ARGV)
      local args, time = cmsgpack.unpack(ARGV[1]), redis.call('TIME')
      return body({
        keys = keys.byName(KEYS),
        startUrls = keys.startUrls(KEYS),
        args = args,
        caller = args.caller,
        nowMs = time[1] * 1000 + math.floor(time[2] / 1000),
        nowUs = time[1] * 1000000 + time[2],
        meta = {}, metaNumbers = {}, changedMeta = {}, -- meta.lua
        decoded = {}, -- domains/domain-limits.lua
        counters = {}, -- counters.lua
        newMembers = {}, -- queue.lua
        domains = {}, dirtyDomains = {}, reclassifyDomains = {}, -- domains.lua
      }, args)
    end,
  })
end

-- Ends the call with an error. Scripts have no rollback, so call this only before the first write.
function verbs.refuse(message) error({ err = message }) end

-- A reply by name: { name, value, name, value … }. True is 1 and false is null.
function verbs.named(fields)
  local reply = {}
  for name, value in pairs(fields) do
    reply[#reply + 1] = name
    reply[#reply + 1] = value
  end
  return reply
end

-- Writes what a call has changed in memory; every verb that writes ends with it.
function verbs.save(crawl)
  domains.save(crawl)
  counters.save(crawl)
  meta.save(crawl)
end
