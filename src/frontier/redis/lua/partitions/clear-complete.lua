-- Clear a partition after partition 0 was cleared. What has come in since is kept.
-- Atomic: whether it is complete must not change before the clearing.
--
-- args: of: the crawl of partition 0 that was cleared
-- Returns 1 when it was cleared. O(1).
verbs.register('clear_complete', { 'allow-oom' }, function(crawl, args)
  if not meta.exists(crawl) then return 1 end
  meta.read(crawl)
  if meta.get(crawl, 'of') ~= args.of or completion.isBusy(crawl) then return 0 end
  wipe.crawl(crawl, false)
  return 1
end)
