-- Commit changes of cookies of a page in another partition, before that page is settled. A change that comes again has no
-- effect.
--
-- args: cookies (cookies/cookies.lua) · maxJars
-- Returns the version of the cookies. O(cookies).
verbs.register('merge_cookies', { 'crawl' }, function(crawl, args)
  cookies.merge(crawl, args)
  cookies.save(crawl)
  return meta.number(crawl, 'cookies')
end)
