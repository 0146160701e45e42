-- Change stats of the user's own code outside of a page.
-- Atomic: a change that is sent again has no second effect.
--
-- args: changes (custom-stats.lua)
-- Returns 1; nothing where there is no crawl (any more), in which case nothing is written. O(n).
verbs.register('add_stats', { 'allow-oom', 'crawl-if-any', 'once' }, function(crawl, args)
  customStats.apply(crawl, args.changes)
  return 1
end)
