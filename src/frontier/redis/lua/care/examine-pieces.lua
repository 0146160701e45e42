-- I4 and I8 for a dupefilter of many keys: no piece is missing, and none has a time to live.

-- A page of the numbers of pieces, as a SCAN returns one.
function examinePieces.page(crawl, args)
  local from, count, numbers = tonumber(args.cursor), pieces.index(crawl).pieces, {}
  for number = from, math.min(from + args.count, count) - 1 do numbers[#numbers + 1] = number end
  local to = from + #numbers
  return { to < count and lists.digits(to) or '0', numbers }
end

-- Those of them that are gone, and the names of those that are to expire.
local function look(crawl, numbers)
  local class, prefix, expiring = dupefilters.agreed(crawl) or dupefilters.of(crawl), pieces.index(crawl).prefix, {}
  for _, number in ipairs(numbers) do
    if redis.call('PTTL', prefix .. number) >= 0 then expiring[#expiring + 1] = prefix .. number end
  end
  return class.holdsAny and marks.gonePieces(crawl, class, numbers) or {}, expiring
end

function examine.pieces(crawl, numbers, found)
  local gone, expiring = look(crawl, numbers)
  if #gone > 0 then examine.breach(found, 'I4: %d pieces of the dupefilter are gone, and what they knew', #gone) end
  if #expiring > 0 then examine.breach(found, 'I8: %d keys of the dupefilter have a time to live', #expiring) end
end

-- Counts what they knew as vanished, and has none expire. args: cursor · count. Returns by name: cursor, gone: fingerprints.
verbs.register('repair_pieces', { 'crawl' }, function(crawl, args)
  local page = examinePieces.page(crawl, args)
  local gone, expiring = look(crawl, page[2])
  local lost = marks.noteGonePieces(crawl, gone)
  for _, name in ipairs(expiring) do redis.call('PERSIST', name) end
  return verbs.named({ cursor = page[1], gone = lost })
end)
