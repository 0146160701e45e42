-- One partition of a crawl that is spread over several (SCHEDULER_PARTITIONS): what the nodes must know of it, and how it
-- follows partition 0, which decides when a run begins and when the crawl is cleared.

-- Adds to a lease answer: epoch · mark: differs if anything was accepted or ended since · leased, waiting: how many requests ·
-- crawlId, fromOthers: requests accepted for pages of other partitions, see note-rollback.lua · runPages, runItems, runErrors · pagesLeft, absent for no limit · budgets: of the run · jarsAt · isVolunteer · transfers.
function partition.describe(crawl, answer)
  local waiting = queue.pending(crawl) + redis.call('ZCARD', crawl.keys.delayed)
  answer.epoch, answer.leased, answer.waiting = meta.get(crawl, 'epoch'), redis.call('HLEN', crawl.keys.leases), waiting
  answer.mark = table.concat({ meta.get(crawl, 'crawl') or '', meta.number(crawl, 'accepted'), meta.number(crawl, 'run_accepted'),
    meta.number(crawl, 'done'), meta.number(crawl, 'removed'), redis.call('ZCARD', crawl.keys.failed) }, ' ')
  answer.crawlId, answer.fromOthers = meta.get(crawl, 'crawl'), meta.number(crawl, 'from_others')
  answer.runPages, answer.runItems = meta.number(crawl, 'run_pages'), meta.number(crawl, 'run_items')
  answer.runErrors, answer.pagesLeft = meta.number(crawl, 'run_errors'), budgets.pagesLeft(crawl)
  answer.budgets = meta.get(crawl, 'budgets') or ''
  answer.jarsAt, answer.isVolunteer = meta.number(crawl, 'jars_at'), meta.get(crawl, 'volunteer') == crawl.caller
  answer.transfers = redis.call('HLEN', crawl.keys.transfers)
end

-- Partition 0 was cleared, reset or flushed since this partition was written, and whoever did it died before this
-- partition was cleared too. What is complete here is cleared now. What is not complete is kept: it was accepted afterwards.
function partition.follow(crawl, of)
  local before = meta.get(crawl, 'of')
  if before and before ~= of and not completion.isBusy(crawl) then
    local fresh = { version = FORMAT, of = of }
    for _, name in ipairs({ 'queue', 'control', 'partition', 'dupefilter' }) do fresh[name] = meta.get(crawl, name) or '' end
    meta.raiseEpoch(crawl)
    fresh.epoch, fresh.crawl = meta.get(crawl, 'epoch'), meta.get(crawl, 'epoch')
    wipe.crawl(crawl, false)
    fresh.began = crawl.nowMs
    for name, value in pairs(fresh) do meta.set(crawl, name, value) end
  end
  if before ~= of then meta.set(crawl, 'of', of) end
end
