-- A step of `doctor --deep` through one of the keys that say in which state a request is, compared with the other keys.
-- Atomic: no request changes its state within a step.
--
-- args: place: queue | suspects | delayed | leases · cursor of its SCAN · count
-- Returns by name: cursor of the next step; ids in this one; of them recordless, leased, failed: ids that should not be so;
--   domains: { name, how many of this step, … } that have no record; unreadable: entries that are none. O(count).
local DOMAIN, ENTRY_BYTES = 32, 33

-- The domain of a member of `queue`; nil for what is no such member.
local function domainOf(member)
  local isMember = #member > ENTRY_BYTES and string.find(member, '\0', 1, true) == #member - DOMAIN
  return isMember and string.sub(member, 1, #member - ENTRY_BYTES) or nil
end

local function pageOf(crawl, args)
  local key, count = crawl.keys[args.place], lists.digits(args.count)
  if args.place == 'leases' then return redis.call('HSCAN', key, args.cursor, 'COUNT', count) end
  return redis.call('ZSCAN', key, args.cursor, 'COUNT', count)
end

local function withoutRecord(crawl, names)
  local found = {}
  for name, entries in pairs(names) do
    if redis.call('HEXISTS', crawl.keys.domains, name) == 0 then
      found[#found + 1] = name
      found[#found + 1] = entries
    end
  end
  return found
end

verbs.register('examine_entries', { 'no-writes' }, function(crawl, args)
  local at, page = crawl.keys, pageOf(crawl, args)
  local ids, names, unreadable, recordless, leased, failed = {}, {}, 0, {}, {}, {}
  for i = 1, #page[2], 2 do
    local entry = page[2][i]
    if args.place == 'leases' then
      ids[#ids + 1] = entry
    elseif args.place ~= 'queue' then
      ids[#ids + 1] = queue.idOf(entry)
    else
      local name = domainOf(entry)
      if name then
        ids[#ids + 1] = queue.idOf(string.sub(entry, -DOMAIN))
        names[name] = (names[name] or 0) + 1
      else
        unreadable = unreadable + 1
      end
    end
  end
  local isLeased = args.place == 'leases' and {} or lists.read('HMGET', at.leases, ids)
  local isFailed = lists.read('ZMSCORE', at.failed, ids)
  for i, id in ipairs(ids) do
    if redis.call('HEXISTS', at.requests, id) == 0 then recordless[#recordless + 1] = id end
    if isLeased[i] then leased[#leased + 1] = id end
    if isFailed[i] then failed[#failed + 1] = id end
  end
  return verbs.named({ cursor = page[1], ids = ids, recordless = recordless, leased = leased, failed = failed,
    domains = withoutRecord(crawl, names), unreadable = unreadable })
end)
