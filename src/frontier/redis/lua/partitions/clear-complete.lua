-- Clear a partition after partition 0 was cleared. What has come in since is kept.
-- Atomic: whether it is complete must not change before the clearing.
--
-- Returns 1 when it was cleared. O(1).
verbs.register('clear_complete', { 'allow-oom' }, function(crawl)
  if not meta.exists(crawl) then return 1 end
  meta.read(crawl)
  if completion.isBusy(crawl) or redis.call('ZCARD', crawl.keys.nodes) > 0 then return 0 end
  wipe.crawl(crawl, false)
  return 1
end)
