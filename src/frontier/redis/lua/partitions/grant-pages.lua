-- The page budget of a run over several partitions. Partition 0 grants blocks of pages, each partition uses its own. When
-- nothing is left to grant, the others give back what they have not used. All four numbers only rise within a run: what partition 0 has granted to
-- a partition and knows to be returned (meta.grants), and the same in the partition itself (meta.granted, meta.returned).
-- Of each, a copy may lag behind. Then pages are missing for a moment, but never are there too many.

local function grantsOf(crawl)
  local text = meta.get(crawl, 'grants')
  local isJson, found = pcall(cjson.decode, text or '{}')
  return isJson and type(found) == 'table' and found or {}
end

-- Grants a block to a partition, if any page is left. O(partitions).
-- args: run · to: its index · count: of partitions · wanted · returned: pages that each is known to have given back, by index from 1
-- Returns JSON of granted: pages granted to it so far · block: of these by this call.
verbs.register('grant_pages', { 'crawl' }, function(crawl, args)
  if meta.get(crawl, 'run') ~= args.run then return cjson.encode({ granted = 0, block = 0 }) end
  local grants, out = grantsOf(crawl), 0
  for i = 1, args.count do
    local of = grants[i] or { 0, 0 }
    of[2] = math.max(of[2], args.returned[i] or 0)
    grants[i], out = of, out + of[1] - of[2]
  end
  local left = math.max(0, budgets.pagesOfRun(crawl) - out)
  local block = math.min(left, math.max(args.wanted, math.ceil(left / (2 * args.count))))
  local to = grants[args.to + 1]
  to[1] = to[1] + block
  meta.set(crawl, 'grants', cjson.encode(grants))
  return cjson.encode({ granted = to[1], block = block })
end)
