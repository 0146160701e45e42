-- A second look of `doctor --deep` at requests that its first walk found nowhere, or twice: which of them are in this step
-- of a key, and which have another state at this instant.
-- Atomic: a request that moves between two steps is leased at one of them, or in another key.
--
-- args: ids · place: queue | suspects | delayed, with cursor of ZSCAN and count; without a place only the states are read
-- Returns by name: cursor of the next step; found: { id, entry, … }; elsewhere: ids that are leased or failed, or have no
--   record. O(count + ids).
local SORT_KEY = 32

local function elsewhere(crawl, ids)
  local found = {}
  local leased = lists.read('HMGET', crawl.keys.leases, ids)
  local failed = lists.read('ZMSCORE', crawl.keys.failed, ids)
  for i, id in ipairs(ids) do
    if leased[i] or failed[i] or redis.call('HEXISTS', crawl.keys.requests, id) == 0 then found[#found + 1] = id end
  end
  return found
end

verbs.register('find_waiting', { 'no-writes' }, function(crawl, args)
  local found, isWanted = {}, {}
  if not args.place then return verbs.named({ cursor = '0', found = found, elsewhere = elsewhere(crawl, args.ids) }) end
  for _, id in ipairs(args.ids) do isWanted[id] = true end
  local page = redis.call('ZSCAN', crawl.keys[args.place], args.cursor, 'COUNT', lists.digits(args.count))
  for i = 1, #page[2], 2 do
    local entry = page[2][i]
    local id = queue.idOf(args.place == 'queue' and string.sub(entry, -SORT_KEY) or entry)
    if isWanted[id] then
      found[#found + 1] = id
      found[#found + 1] = entry
    end
  end
  return verbs.named({ cursor = page[1], found = found, elsewhere = elsewhere(crawl, args.ids) })
end)
