-- Take converted external seeds in: remove each exact value and accept its requests, or put it aside as bad, only if it
-- was still there. Atomic: a seed is never out of its key without being in the frontier, and never in twice.
--
-- args: kind (seeds | seeds-judged) · type of the key (list | set | zset | stream) · key: its number, from 1 · queueClass,
--   epoch: for a new meta · seeds: { value, id of an entry of a stream, requests (acceptance.lua; absent for none),
--   bad: JSON for the bad list }
-- Returns JSON of accepted, duplicates, bad. O(n log m), and for a list n times what was put before the batch since it
-- was read.

-- Values compared at most in search of a batch, some 0.5 ms; but not less than 500 for each.
local SEARCHED = 100000

-- A batch was read at the head of its list, and what was put before it meanwhile stays there: LREM finds a value in as
-- many steps as values were put before. Where another node took it, the search is bounded; one that lies deeper (so much
-- was put before it while it was converted) stays, to be read and converted again.
local function remove(crawl, type, key, seed, depth)
  local value = seed.value
  if type == 'stream' then return seedStream.take(crawl, key, seed.id) end
  if type == 'set' then return redis.call('SREM', key, value) == 1 end
  if type == 'zset' then return redis.call('ZREM', key, value) == 1 end
  return redis.call('LPOS', key, value, 'MAXLEN', depth) and redis.call('LREM', key, 1, value) == 1
end

verbs.register('intake', { 'creates-crawl', 'accepts', 'once' }, function(crawl, args)
  local at = crawl.startUrls[args.key]
  keys.refuseOther(at.key, args.type)
  keys.refuseOther(at.bad, 'list')
  dupefilters.agree(crawl)
  local total, depth = { accepted = 0, duplicates = 0, bad = 0 }, math.max(500, math.floor(SEARCHED / #args.seeds))
  for _, seed in ipairs(args.seeds) do
    if remove(crawl, args.type, at.key, seed, depth) then
      if seed.bad then
        redis.call('RPUSH', at.bad, seed.bad)
        total.bad = total.bad + 1
      elseif seed.requests then
        local answer = acceptance.accept(crawl, seed.requests, args.kind)
        total.accepted, total.duplicates = total.accepted + answer.accepted, total.duplicates + answer.duplicates
      end
    end
  end
  return cjson.encode(total)
end)
