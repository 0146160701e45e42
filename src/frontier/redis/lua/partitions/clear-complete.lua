-- Clear a partition after partition 0 was cleared. What has come in since is kept.
-- Atomic: whether it is complete must not change before the clearing.
--
-- args: of: the crawl of partition 0 that was cleared
-- O(1).
verbs.register('clear_complete', { 'allow-oom', 'crawl-if-any' }, function(crawl, args)
  if meta.get(crawl, 'of') == args.of and not completion.isBusy(crawl) then wipe.crawl(crawl, false) end
end)
