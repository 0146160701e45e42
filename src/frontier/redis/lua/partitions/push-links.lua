-- Accept the links that pages of other partitions have in this one, before those pages are settled. The links of several
-- pages come in one call; those of each page are judged by themselves, in order, as a push of their own would be.
-- Atomic: as push.lua. It goes on under full memory as a settle does, since a page whose links waited could not be committed.
--
-- args: pages: requests of each (acceptance.lua) · jarsAt: version of the cookies that any of them depends on (meta.jars_at)
-- Returns JSON of crawlId, fromOthers: meta.from_others, and answers: for each page as push.lua. O(n log m) for n links.
verbs.register('push_links', { 'allow-oom', 'crawl', 'accepts', 'once' }, function(crawl, args)
  local found = {}
  dupefilters.agree(crawl)
  for n, requests in ipairs(args.pages) do
    local answer, allSeen = acceptance.accept(crawl, requests, 'links')
    answer.epoch, answer.allSeen = meta.get(crawl, 'epoch'), allSeen
    meta.add(crawl, 'from_others', answer.accepted)
    found[n] = answer
  end
  meta.raise(crawl, 'jars_at', args.jarsAt)
  return cjson.encode({ crawlId = meta.get(crawl, 'crawl'), fromOthers = meta.number(crawl, 'from_others'), answers = found })
end)
