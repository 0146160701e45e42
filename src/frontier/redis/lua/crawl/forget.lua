-- Remove a fingerprint from the dupefilter, and raise the epoch so that no node's cache still holds it as seen. Works on a
-- set that no crawl has used yet, such as one of Scrapy-Redis.
--
-- args: mark
-- Returns 1 when it was there. O(1).
verbs.register('forget', { 'allow-oom' }, function(crawl, args)
  local exists = meta.exists(crawl)
  if exists then
    meta.read(crawl)
    dupefilters.refuseOther(crawl)
  end
  local was = dupefilters.forget(crawl, args.mark)
  if exists and was == 1 then meta.raiseEpoch(crawl) end
  verbs.save(crawl)
  return was
end)
