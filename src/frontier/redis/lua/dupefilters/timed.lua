-- TimedRFPDupeFilter: args.dupefilter.expireMs is how long a fingerprint is remembered; 0 is for ever.
dupefilters.TimedRFPDupeFilter = expiring.class(function(crawl)
  local expireMs = crawl.args.dupefilter.expireMs
  return expireMs > 0 and crawl.nowMs + expireMs or nil
end)
