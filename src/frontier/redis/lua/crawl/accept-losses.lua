-- Take the lost requests for removed, and files for what they are: somebody has decided to go on without what is lost. A finished crawl that does not persist and
-- was kept only for its losses is cleared, as the last node of its run would have done.
-- Atomic: no node joins between the decision and the clearing.
--
-- args: persist
-- Returns the number of lost requests, and 1 where the crawl was cleared, else 0. O(1).

local function isKeptForLosses(crawl)
  return meta.get(crawl, 'run_closed') == 'requests_lost' and redis.call('ZCARD', crawl.keys.nodes) == 0
    and completion.isFinished(crawl, completion.seedsWaiting(crawl))
end

verbs.register('accept_losses', { 'allow-oom' }, function(crawl, args)
  if not meta.exists(crawl) then
    feeds.acceptChanges(crawl)
    return { 0, 0 }
  end
  meta.read(crawl)
  local first = answers.first(crawl)
  if first then return first end
  feeds.acceptChanges(crawl)
  local lost = meta.number(crawl, 'lost')
  if lost > 0 and not args.persist and isKeptForLosses(crawl) then
    wipe.crawl(crawl, false)
    return { lost, 1 }
  end
  meta.add(crawl, 'removed', lost)
  meta.set(crawl, 'lost', 0)
  -- What came back is not what was lost.
  if meta.number(crawl, 'came_back') > 0 then
    losses.dropUnqueued(crawl)
    for _, name in ipairs({ 'came_back', 'stall_left' }) do meta.set(crawl, name, '') end
  end
  verbs.save(crawl)
  answers.keep(crawl, { lost, 0 })
  return { lost, 0 }
end)
