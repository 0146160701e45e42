-- A step of `doctor --deep` through the records: those that are neither leased nor failed, so they must be waiting.
-- Atomic: no request changes its state within a step. The records themselves never leave the server.
--
-- args: cursor of HSCAN · count
-- Returns by name: cursor of the next step, ids, bytes of all records of this one. O(count + bytes).
verbs.register('examine_requests', { 'no-writes' }, function(crawl, args)
  local page = redis.call('HSCAN', crawl.keys.requests, args.cursor, 'COUNT', lists.digits(args.count))
  local ids, waiting, bytes = {}, {}, 0
  for i = 1, #page[2], 2 do
    ids[#ids + 1] = page[2][i]
    bytes = bytes + #page[2][i + 1]
  end
  local leased = lists.read('HMGET', crawl.keys.leases, ids)
  local failed = lists.read('ZMSCORE', crawl.keys.failed, ids)
  for i, id in ipairs(ids) do
    if not leased[i] and not failed[i] then waiting[#waiting + 1] = id end
  end
  return verbs.named({ cursor = page[1], ids = waiting, bytes = bytes })
end)
