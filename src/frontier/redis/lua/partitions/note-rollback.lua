-- A partition that came back from an older copy, such as after a crash of its server, lacks requests of other partitions' pages.
-- Those pages are done and not fetched again, so these requests are lost. What the pages of this partition gave comes back with
-- them, since they are pending again.
--
-- args: crawl: id of this partition's crawl · fromOthers: how many such requests a node knows to have been accepted
-- Returns how many are lost now. O(1).
verbs.register('note_rollback', { 'allow-oom', 'crawl' }, function(crawl, args)
  local missing = args.fromOthers - meta.number(crawl, 'from_others')
  if meta.get(crawl, 'crawl') == args.crawl and missing > 0 then
    meta.set(crawl, 'from_others', args.fromOthers)
    meta.add(crawl, 'accepted', missing)
    meta.add(crawl, 'lost', missing)
  end
  return meta.number(crawl, 'lost')
end)
