-- Delete failed requests; they count as removed.
--
-- args: ids
-- Returns how many were dropped; nothing without a crawl. O(n log m).
verbs.register('purge_failed', { 'allow-oom', 'crawl-if-any' }, function(crawl, args)
  local dropped = {}
  for _, id in ipairs(args.ids) do
    if acceptance.revive(crawl, id) then dropped[#dropped + 1] = id end
  end
  lists.send('HDEL', crawl.keys.requests, dropped)
  earlyLinks.forget(crawl, dropped)
  meta.add(crawl, 'removed', #dropped)
  return #dropped
end)
