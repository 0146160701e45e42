-- End a restore: nodes may join, and caches of seen fingerprints are invalid.
-- Atomic: no node can join before the epoch has risen.
--
-- args: restore: id
-- Returns 1, also when it had ended before; 0 when another restore, or none, is under way. O(1).
verbs.register('restore_end', { 'crawl' }, function(crawl, args)
  if meta.get(crawl, 'restored_from') == args.restore then return 1 end
  if meta.get(crawl, 'restoring') ~= args.restore then return 0 end
  meta.set(crawl, 'restoring', '')
  meta.set(crawl, 'restored_from', args.restore)
  meta.raiseEpoch(crawl)
  return 1
end)
