-- A step of `doctor --deep` through `ready` or `waiting`: entries that no record of a domain accounts for.
-- Atomic: no domain changes its state within a step.
--
-- args: place: ready | waiting · cursor of ZSCAN · count
-- Returns by name: cursor of the next step; strangers: such entries. O(count).

-- Whether an entry of `ready` is the best request of its domain.
local function isHead(entry, packed)
  local isWhole, d = pcall(domains.unpack, '', packed)
  return isWhole and d.head == queue.sortKeyOf(entry)
end

verbs.register('examine_schedule', { 'no-writes' }, function(crawl, args)
  local page = redis.call('ZSCAN', crawl.keys[args.place], args.cursor, 'COUNT', lists.digits(args.count))
  local strangers = {}
  for i = 1, #page[2], 2 do
    local entry = page[2][i]
    local isReady = args.place == 'ready'
    local packed = redis.call('HGET', crawl.keys.domains, isReady and queue.domainOf(entry) or entry)
    if not packed or (isReady and not isHead(entry, packed)) then strangers[#strangers + 1] = entry end
  end
  return verbs.named({ cursor = page[1], strangers = strangers })
end)
