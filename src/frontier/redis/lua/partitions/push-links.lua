-- Accept the links that pages of other partitions have in this one, before those pages are settled. The links of several
-- pages come in one call; those of each page are judged by themselves, in order, as a push of their own would be.
-- Atomic: as push.lua. It goes on under full memory as a settle does, since a page whose links waited could not be committed.
--
-- args: pages: requests of each (acceptance.lua) · jarsAt: version of the cookies that any of them depends on (meta.jars_at)
-- Returns the epoch, the id of the crawl, meta.from_others, then for each page accepted, duplicates, dropped, trapped, unseen, by name. O(n log m) for n links.
verbs.register('push_links', { 'allow-oom' }, function(crawl, args)
  meta.read(crawl)
  acceptance.check(crawl)
  local judged = answers.first(crawl)
  if not judged then
    answers.forgetArrived(crawl)
    dupefilters.agree(crawl)
    judged = {}
    for n, requests in ipairs(args.pages) do
      judged[n] = acceptance.accept(crawl, requests, 'links')
      meta.add(crawl, 'from_others', judged[n].accepted)
    end
    if args.jarsAt then meta.set(crawl, 'jars_at', math.max(meta.number(crawl, 'jars_at'), args.jarsAt)) end
    answers.keep(crawl, judged)
    verbs.save(crawl)
  end
  local reply = { meta.get(crawl, 'epoch'), meta.get(crawl, 'crawl'), meta.number(crawl, 'from_others') }
  for _, answer in ipairs(judged) do reply[#reply + 1] = verbs.named(answer) end
  return reply
end)
