-- Test whether a set of `count` whole numbers keeps the compact intset encoding, which a CompactDupeFilter needs. A test,
-- because CONFIG GET is often renamed or forbidden. Atomic: no other client sees the key.
--
-- args: count
-- Returns the set's encoding, or nothing where OBJECT is not allowed. O(count).
verbs.register('intsets', {}, function(crawl, args)
  local key, numbers = crawl.keys.probe, {}
  for i = 1, args.count do numbers[i] = i end
  lists.send('SADD', key, numbers)
  local encoding = redis.pcall('OBJECT', 'ENCODING', key)
  redis.call('DEL', key)
  return type(encoding) == 'string' and encoding or nil
end)
