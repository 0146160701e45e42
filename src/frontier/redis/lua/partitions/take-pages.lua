-- Tells a partition what it was granted, or has it give back what it does not need. O(1).
-- args: run · granted: in all; absent: only give back · givesBack
-- Returns how many pages it has given back in all.
verbs.register('take_pages', { 'crawl' }, function(crawl, args)
  if meta.get(crawl, 'run') ~= args.run then return 0 end
  meta.raise(crawl, 'granted', args.granted)
  if args.givesBack then meta.add(crawl, 'returned', budgets.pagesLeft(crawl) or 0) end
  return meta.number(crawl, 'returned')
end)
