-- End leases and commit their effects: of each its items, discovered requests, counters and the acknowledgement in one
-- step, or none of them. Each settle succeeds or fails alone; they are sent together because most of the cost is per call.
-- Atomic: this is what makes a page commit once; a stale token changes nothing.
--
-- args: settles, feeds (commit-settles.lua)
-- Returns for each JSON of committed, and where it is not, resend: judged under another epoch, or closed: the run's item budget
--   was used up before this page with its items came, so its request is pending again; and where it is, epoch, allSeen: whether
--   the dupefilter holds all links, and what acceptance.accept returns of them. O(n log m).
verbs.register('settle', { 'allow-oom', 'crawl', 'accepts' }, function(crawl) return commitSettles.run(crawl) end)
