-- Every entry is in the crawl: nodes may join, and what their caches knew of the dupefilter is void.
-- Atomic: the epoch rises with the first instant in which a node can join.
--
-- args: restore: id
-- Returns 1, also when it was ended before; 0 when another one, or none, is under way. O(1).
verbs.register('restore_end', {}, function(crawl, args)
  meta.read(crawl)
  if meta.get(crawl, 'restored_from') == args.restore then return 1 end
  if meta.get(crawl, 'restoring') ~= args.restore then return 0 end
  meta.set(crawl, 'restoring', '')
  meta.set(crawl, 'restored_from', args.restore)
  meta.raiseEpoch(crawl)
  verbs.save(crawl)
  return 1
end)
