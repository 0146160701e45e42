-- RFPDupeFilter: a SET of 40 hex digits each, the very one of Scrapy-Redis 0.8 and later.
dupefilters.RFPDupeFilter = {
  seen = function(crawl, marks) return lists.read('SMISMEMBER', crawl.keys.dupefilter, marks) end,
  record = function(crawl, marks) return lists.send('SADD', crawl.keys.dupefilter, marks) end,
  forget = function(crawl, mark) return redis.call('SREM', crawl.keys.dupefilter, mark) end,
  markOf = function(id) return lists.hex(id) end,
  size = function(crawl) return redis.call('SCARD', crawl.keys.dupefilter) end,
}
