-- Make the record of a partition before the first push to any of them, so that all agree on their number and on the
-- dupefilter.
--
-- args: queueClass · epoch: for a new meta
-- Returns the id of the crawl. O(1).
verbs.register('found_crawl', {}, function(crawl, args)
  meta.create(crawl, args.queueClass, args.epoch)
  meta.read(crawl)
  acceptance.check(crawl)
  dupefilters.agree(crawl)
  verbs.save(crawl)
  return meta.get(crawl, 'crawl')
end)
