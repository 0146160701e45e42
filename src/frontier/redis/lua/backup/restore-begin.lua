-- Begin a restore, or continue the same one after it was cut off. Until it ends no node can join.
-- Atomic: a node joins before the restore begins, or is refused.
--
-- args: restore: id · force · mayBegin: what the crawl holds allows it (judgeRestore of parts.ts) · queueClass, epoch: for a new meta
-- Returns JSON: status begun, with entries: how many are restored already · live, with nodes · other: another restore was cut
--   off · judge, without mayBegin: nothing else is in its way; with restoredFrom: the restore that ended last, if any. O(1).

verbs.register('restore_begin', {}, function(crawl, args)
  local isNew = not meta.exists(crawl)
  if not isNew then meta.read(crawl) end
  dupefilters.refuseOther(crawl)
  local live = nodes.heardWithin(crawl, nodes.timeoutMs(crawl))
  if live > 0 and not args.force then return cjson.encode({ status = 'live', nodes = live }) end
  local underWay = meta.get(crawl, 'restoring')
  if underWay == args.restore then return cjson.encode({ status = 'begun', entries = meta.number(crawl, 'restored') }) end
  if underWay then return cjson.encode({ status = 'other' }) end
  if not args.mayBegin then return cjson.encode({ status = 'judge', restoredFrom = meta.get(crawl, 'restored_from') or nil }) end
  meta.create(crawl, args.queueClass, args.epoch)
  if not isNew then meta.raiseEpoch(crawl) end
  dupefilters.agree(crawl)
  meta.set(crawl, 'restoring', args.restore)
  meta.set(crawl, 'restored', 0)
  meta.set(crawl, 'restored_from', '')
  verbs.save(crawl)
  return cjson.encode({ status = 'begun', entries = 0 })
end)
