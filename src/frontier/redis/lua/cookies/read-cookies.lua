-- Read the sets of cookies that have changed since a version: the further ones where a lease could not bring all.
--
-- args: known: the version · anewAt: absent, or as cookies.since says
-- Returns what `cookies.since` does; nothing where nothing has changed, or there is no crawl. O(sets), bounded.
verbs.register('cookies', { 'no-writes', 'crawl-if-any' }, function(crawl, args)
  return cookies.since(crawl, args.known, args.anewAt)
end)
