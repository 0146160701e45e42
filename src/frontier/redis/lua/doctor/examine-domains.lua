-- A step of `doctor --deep` through the records of the domains, compared with `queue`, `ready` and `waiting`.
-- Atomic: no domain changes its state within a step.
--
-- args: cursor of HSCAN · count
-- Returns by name: cursor of the next step; busy: names of domains that say they have leases, or are full;
--   faults: { what, name, state, … }. O(count log n).
local SORT_KEY = 32

-- A domain from its record; nil where it cannot be read.
local function readable(name, packed)
  local isWhole, d = pcall(domains.unpack, name, packed)
  return isWhole and d.state and (#d.head == 0 or #d.head == SORT_KEY) and d or nil
end

local function waitsUntil(d, score)
  return score and math.abs((tonumber(score) or math.huge) - math.max(d.nextAt, d.blockedUntil)) <= 1
end

-- Calls note(what) for each fault.
local function check(crawl, d, note)
  local best = queue.sortKeys(crawl, d.name, 1)[1] or ''
  -- When two requests have the same order, either may be the head.
  if queue.orderOf(best) ~= queue.orderOf(d.head) then note('head') end
  if best ~= '' and d.state == 'idle' then note('idle') end
  local isReady = redis.call('ZSCORE', crawl.keys.ready, d.head .. d.name)
  local wakesAt = redis.call('ZSCORE', crawl.keys.waiting, d.name)
  if d.state == 'ready' and not isReady then note('not ready') end
  if d.state ~= 'ready' and isReady then note('ready') end
  if d.state ~= 'waiting' and wakesAt then note('waiting') end
  if d.state == 'waiting' and not wakesAt then note('not waiting') end
  if d.state == 'waiting' and wakesAt and not waitsUntil(d, wakesAt) then note('instant') end
end

verbs.register('examine_domains', { 'no-writes' }, function(crawl, args)
  local page = redis.call('HSCAN', crawl.keys.domains, args.cursor, 'COUNT', lists.digits(args.count))
  local busy, faults = {}, {}
  for i = 1, #page[2], 2 do
    local name = page[2][i]
    local d = readable(name, page[2][i + 1])
    local function note(what) lists.append(faults, { what, name, d and d.state or '' }) end
    if d then
      if d.active > 0 or d.state == 'full' then busy[#busy + 1] = name end
      check(crawl, d, note)
    else
      note('unreadable')
    end
  end
  return verbs.named({ cursor = page[1], busy = busy, faults = faults })
end)
