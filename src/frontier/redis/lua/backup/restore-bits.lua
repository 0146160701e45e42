-- Restore a BloomDupeFilter: first its index, into an empty dupefilter, then the bits of its pieces.
-- Atomic: the pieces belong to the generation of their index.
--
-- args (and those of restoring.lua): index: { pieces, seen, slices, filled, allocated } · or pieces: { number, bits }
-- Returns as restoring.lua says. O(bytes).
verbs.register('restore_bits', {}, function(crawl, args)
  return restoring.apply(crawl, function()
    dupefilters.refuseOther(crawl)
    if args.index then
      local index = pieces.begin(crawl)
      for name, number in pairs(args.index) do index[name] = number end
      pieces.save(crawl)
    else
      local prefix = pieces.index(crawl).prefix
      for _, piece in ipairs(args.pieces) do redis.call('SET', prefix .. piece[1], piece[2]) end
    end
  end)
end)
