-- Restore cookies. One that the crawl already has stays as it is.
-- Atomic: an entry is added once.
--
-- args (and those of restoring.lua): changes: { jar, domain, path, name, text, untilMs: absent for none }
-- Returns as restoring.lua says. O(n).
verbs.register('restore_cookies', {}, function(crawl, args)
  return restoring.apply(crawl, function()
    cookies.add(crawl, args.changes)
    cookies.save(crawl)
  end)
end)
