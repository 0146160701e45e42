-- End leases and commit their effects: of each its items, discovered requests, counters and the acknowledgement in one
-- step, or nothing. Each settle succeeds or fails alone; they are sent together because most of the cost is per call.
-- Atomic: this is what makes a page commit once; a stale token changes nothing.
--
-- args: settles, feeds (settling.lua)
-- Returns for each, by name: status committed | lost | resend: judged under another epoch | closed: the run's item budget
--   was used up before this page with its items came, so its request is pending again; and where committed: epoch,
--   and of links accepted, duplicates, dropped, unseen (how many the dupefilter does not hold), absent for 0. O(n log m).
verbs.register('settle', { 'allow-oom' }, function(crawl)
  meta.read(crawl)
  acceptance.check(crawl)
  answers.forgetArrived(crawl)
  local settled = settling.run(crawl)
  verbs.save(crawl)
  return settled
end)
