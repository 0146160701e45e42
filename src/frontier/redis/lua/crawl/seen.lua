-- Ask the dupefilter for one fingerprint. Reads only.
--
-- args: mark · id
-- Returns by name: seen · state: a letter (dupefilters/state.lua), atMs, status: HTTP or 0, attempts: what is known of its
-- life, absent where nothing is. O(1).
verbs.register('seen', { 'no-writes' }, function(crawl, args)
  local letter, atMs, status, attempts = state.read(crawl, args.id)
  local seen = dupefilters.of(crawl).seen(crawl, { args.mark })[1]
  return cjson.encode({ seen = seen == 1, state = letter, atMs = atMs, status = status, attempts = attempts })
end)
