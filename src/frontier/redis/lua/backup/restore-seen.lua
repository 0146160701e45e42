-- Restore fingerprints into the crawl's dupefilter, whatever its class. Of two expiries the later one stays. What a
-- StateDupeFilter already knows of a request stays.
-- Atomic: an entry is added once.
--
-- args (and those of restoring.lua): marks · untils: for each the instant it is forgotten, or +inf; for a
--   TimedRFPDupeFilter · lives: for each its entry (dupefilters/state.lua), for a StateDupeFilter. Both are absent where the
--   backup does not know them.
-- Returns as restoring.lua says. O(n).
verbs.register('restore_seen', {}, function(crawl, args)
  local key, class = crawl.keys.dupefilter, dupefilters.of(crawl)
  return restoring.apply(crawl, function()
    dupefilters.refuseOther(crawl)
    if not keys.isOf(class.type, key) then
      verbs.refuse('WRONGTYPE the dupefilter of this crawl holds another type')
    end
    if args.untils then
      for i, mark in ipairs(args.marks) do redis.call('ZADD', key, 'GT', args.untils[i], mark) end
    elseif class.type == 'hash' then
      local finished = state.pack(crawl, 'done', 0, 0)
      for i, mark in ipairs(args.marks) do redis.call('HSETNX', key, mark, args.lives and args.lives[i] or finished) end
    else
      class.record(crawl, args.marks, {}, false)
    end
  end)
end)
