-- What all verbs of a restore share. meta.restoring is the id of the restore under way, meta.restored the number of the last
-- entry applied.
--
-- args of every verb that applies an entry: restore: id of the restore · entry: number of the entry · then its own.
-- Such a verb returns 1; 0 for an entry that is in the crawl already, since the reply of an earlier call was lost; -1 when
-- this restore is not under way.

-- Applies an entry once by write(), which may refuse the call before its first write.
function restoring.apply(crawl, write)
  local args = crawl.args
  meta.read(crawl)
  if meta.get(crawl, 'restoring') ~= args.restore then return -1 end
  if meta.number(crawl, 'restored') >= args.entry then return 0 end
  write()
  meta.set(crawl, 'restored', args.entry)
  verbs.save(crawl)
  return 1
end

-- Whether a request is in the crawl. Beyond FAILED_LIMIT a failed one has no record.
function restoring.isLive(crawl, id)
  return redis.call('HEXISTS', crawl.keys.requests, id) == 1 or redis.call('ZSCORE', crawl.keys.failed, id)
end
