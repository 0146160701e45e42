-- One partition of a crawl that is spread over several (SCHEDULER_PARTITIONS): what the nodes must know of it, and how it
-- follows partition 0, which decides when a run begins and when the crawl is cleared.

-- What a lease answer tells of it, PartState of part-state.ts: epoch · mark: differs if anything was accepted or ended since · leased, waiting: how many requests ·
-- crawlId, fromOthers: requests accepted for pages of other partitions, see note-rollback.lua · runPages, runItems, runErrors · pagesLeft, absent for no limit · budgets: of the run · jarsAt · isVolunteer · transfers.
function partition.describe(crawl)
  local name, number = meta.get(crawl, 'crawl') or '', function(field) return meta.number(crawl, field) end
  local mark = { name, number('accepted'), number('run_accepted'), number('done'), number('removed'),
    redis.call('ZCARD', crawl.keys.failed) }
  return {
    epoch = meta.get(crawl, 'epoch'), crawlId = name, fromOthers = number('from_others'), mark = table.concat(mark, ' '),
    leased = redis.call('HLEN', crawl.keys.leases), waiting = queue.pending(crawl) + redis.call('ZCARD', crawl.keys.delayed),
    runPages = number('run_pages'), runItems = number('run_items'), runErrors = number('run_errors'),
    pagesLeft = budgets.pagesLeft(crawl) or cjson.null, budgets = meta.get(crawl, 'budgets') or '',
    jarsAt = number('jars_at'), isVolunteer = meta.get(crawl, 'volunteer') == crawl.caller,
    transfers = redis.call('HLEN', crawl.keys.transfers),
  }
end

-- Partition 0 was cleared, reset or flushed since this partition was written, and whoever did it died before this
-- partition was cleared too. What is complete here is cleared now. What is not complete is kept: it was accepted afterwards.
function partition.follow(crawl, of)
  local before = meta.get(crawl, 'of')
  if before and before ~= of and not completion.isBusy(crawl) then
    wipe.renew(crawl, false, { 'epoch', 'queue', 'control', 'partition', 'dupefilter' })
    meta.set(crawl, 'crawl', meta.get(crawl, 'epoch'))
    meta.set(crawl, 'began', crawl.nowMs)
  end
  if before ~= of then meta.set(crawl, 'of', of) end
end
