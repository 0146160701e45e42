-- Change stats of the user's own code outside of a page.
-- Atomic: a change that is sent again has no second effect.
--
-- args: changes (custom-stats.lua)
-- Returns OK, also where there is no crawl (any more), in which case nothing is written. O(n).
verbs.register('add_stats', { 'allow-oom' }, function(crawl, args)
  if not meta.exists(crawl) then return redis.status_reply('OK') end
  meta.read(crawl)
  answers.forgetArrived(crawl)
  if not answers.first(crawl) then
    customStats.apply(crawl, args.changes)
    answers.keep(crawl, { isAdded = true })
    verbs.save(crawl)
  end
  return redis.status_reply('OK')
end)
