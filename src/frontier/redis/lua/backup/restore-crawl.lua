-- Restore the totals, the shape and the beginning of a crawl. A shape that is already set stays, and the earlier beginning.
-- Atomic: an entry is added to the counters once.
--
-- args (and those of restoring.lua): queueClass · shape: JSON; absent before a first node · starts: by field of meta, how many
--   start requests were pushed, or `pushed` · done · removed · lost · began, seen_since: instants; absent where they are not known
-- Returns as restoring.lua says. O(1).

-- The start requests that were pushed, here or there: the larger number.
local function mergeStart(crawl, field, start)
  if meta.get(crawl, field) == 'pushed' then return end
  if start == 'pushed' or start > meta.number(crawl, field) then meta.set(crawl, field, start) end
end

verbs.register('restore_crawl', {}, function(crawl, args)
  return restoring.apply(crawl, function()
    if args.shape and not meta.get(crawl, 'shape') and queue.pending(crawl) == 0 then
      meta.set(crawl, 'shape', args.shape)
      meta.set(crawl, 'queue', args.queueClass)
    end
    for field, start in pairs(args.starts) do mergeStart(crawl, field, start) end
    meta.add(crawl, 'done', args.done)
    meta.add(crawl, 'removed', args.removed)
    meta.add(crawl, 'lost', args.lost)
    meta.add(crawl, 'accepted', args.done + args.removed + args.lost)
    for _, name in ipairs({ 'began', 'seen_since' }) do
      if args[name] then meta.set(crawl, name, math.min(meta.number(crawl, name, crawl.nowMs), args[name])) end
    end
  end)
end)
