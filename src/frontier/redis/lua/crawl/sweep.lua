-- Delete pieces of a cleared dupefilter, a bounded number a call; call it until none is left. Nothing reads these pieces any
-- more, so the others may be deleted at any later time.
--
-- args: most: pieces deleted at most
-- Returns how many are left. O(pieces unlinked): some 2 ms for 2,000.
-- More was written by somebody else: a call that asks for each of them would never end.
local MOST_PIECES = 10000000

verbs.register('sweep', { 'allow-oom' }, function(crawl, args)
  local most, left = args.most, 0
  local garbage = redis.call('HGETALL', crawl.keys.garbage)
  for i = 1, #garbage, 2 do
    local generation, count, names = garbage[i], math.min(reader.number(garbage[i + 1]) or 0, MOST_PIECES), {}
    local prefix = pieces.prefix(crawl, generation)
    while count > 0 and #names < most do
      count = count - 1
      names[#names + 1] = prefix .. count
    end
    if #names > 0 then redis.call('UNLINK', unpack(names)) end
    most, left = most - #names, left + count
    if count > 0 then
      redis.call('HSET', crawl.keys.garbage, generation, count)
    else
      redis.call('HDEL', crawl.keys.garbage, generation)
    end
  end
  return left
end)
