-- Restore items, counters, seeds, feeds and their waiting items.
-- Atomic: an entry is added to its list or counters once.
--
-- args (and those of restoring.lua): kind, and by kind
--   items: values · stats: counters: numbers by name · custom: { name, stored value, … }
--   seeds: key: its number, from 1 · type (list | set | zset | bad) · values, each after its score in a zset
--   feed: feed · record: its JSON · last: number of its last item; one that is known stays as it is
--   outbox: feed · values, which go to its end
-- Returns as restoring.lua says. O(n).
local ADD = { list = 'RPUSH', set = 'SADD', zset = 'ZADD' }

-- The key that seeds go to, and its type.
local function seedsKey(crawl, args)
  local startUrls = crawl.startUrls[args.key]
  if args.type == 'bad' then return startUrls.bad, 'list' end
  return startUrls.key, args.type
end

local restore = {
  items = function(crawl, args) lists.send('RPUSH', crawl.keys.items, args.values) end,
  stats = function(crawl, args)
    for name, amount in pairs(args.counters) do counters.add(crawl, name, amount) end
    customStats.restore(crawl, args.custom)
  end,
  seeds = function(crawl, args)
    local key, type = seedsKey(crawl, args)
    lists.send(ADD[type], key, args.values)
  end,
  feed = function(crawl, args)
    if redis.call('HSETNX', crawl.keys.feeds, args.feed, args.record) == 1 then
      redis.call('HSET', crawl.keys.feeds, args.feed .. ':tail', args.last)
    end
  end,
  outbox = function(crawl, args) feeds.append(crawl, { args.feed }, args.values) end,
}

verbs.register('restore_values', {}, function(crawl, args)
  return restoring.apply(crawl, function()
    if not (keys.isOf('list', crawl.keys.items) and keys.isOf('hash', crawl.keys.stats)) then
      verbs.refuse('WRONGTYPE the items or stats key of this crawl holds another type')
    end
    if args.kind == 'seeds' then
      local key, type = seedsKey(crawl, args)
      if not keys.isOf(type, key) then verbs.refuse('WRONGTYPE a start_urls key of this crawl holds another type') end
    end
    restore[args.kind](crawl, args)
  end)
end)
