-- Delete failed requests; they count as removed.
--
-- args: ids
-- Returns how many were dropped. O(n log m).
verbs.register('purge_failed', { 'allow-oom' }, function(crawl, args)
  if not meta.exists(crawl) then return 0 end
  meta.read(crawl)
  local dropped = {}
  for _, id in ipairs(args.ids) do
    if acceptance.revive(crawl, id) then dropped[#dropped + 1] = id end
  end
  lists.send('HDEL', crawl.keys.requests, dropped)
  meta.add(crawl, 'removed', #dropped)
  verbs.save(crawl)
  return #dropped
end)
