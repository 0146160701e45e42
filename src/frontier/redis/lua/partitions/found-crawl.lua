-- Make the record of a partition before the first push to any of them, so that all agree on their number and on the
-- dupefilter.
--
-- args: queueClass · epoch: for a new meta
-- Returns the id of the crawl. O(1).
verbs.register('found_crawl', { 'creates-crawl', 'accepts' }, function(crawl)
  dupefilters.agree(crawl)
  return meta.get(crawl, 'crawl')
end)
