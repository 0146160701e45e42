-- Try out whether a set of so many whole numbers stays small in memory, which a CompactDupeFilter needs. Tried out instead
-- of asked for: CONFIG is often renamed or forbidden. Atomic: nobody meets the key.
--
-- args: count
-- Returns the set's encoding, or nothing where it may not be asked. O(count).
verbs.register('intsets', {}, function(crawl, args)
  local key, numbers = crawl.keys.probe, {}
  for i = 1, args.count do numbers[i] = i end
  lists.send('SADD', key, numbers)
  local encoding = redis.pcall('OBJECT', 'ENCODING', key)
  redis.call('DEL', key)
  return type(encoding) == 'string' and encoding or nil
end)
