-- Notices when fingerprints vanish by another hand: somebody deletes the keys of the dupefilter or sets a time to live on
-- them, or Redis evicts them. The nodes' caches then take links for seen that the store does not know any more.
--
-- meta.marks is how many fingerprints the keys hold, by what each write has really added or removed. A size below it means
-- that some vanished: the epoch rises, so that every node drops its cache, and meta.marks_gone counts them until a reset. A
-- size above it is no finding: other programs may fill a set of Scrapy-Redis.
--
-- A key that several crawls share is not watched, since each of them adds to it and resets it.

-- The fields of meta that belong to the dupefilter, and go with it.
marks.FIELDS = { 'marks', 'marks_gone', 'marks_expire', 'pieces', 'pieces_looked' }

-- Pieces of a dupefilter of many keys that each look examines, in turn.
local PIECES = 64

-- Fingerprints that other programs have added are not counted, and may expire or be forgotten all the same.
function marks.add(crawl, amount)
  if amount ~= 0 then meta.set(crawl, 'marks', math.max(0, meta.number(crawl, 'marks') + amount)) end
end

local function noteGone(crawl, amount)
  meta.add(crawl, 'marks_gone', amount)
  meta.raiseEpoch(crawl)
end

-- The class whose keys are watched; nil where none is, or a restore is filling them.
local function watched(crawl)
  if crawl.args.sharesDupefilter or meta.get(crawl, 'restoring') then return nil end
  local class = dupefilters.agreed(crawl)
  return class and keys.isOf(crawl.args.dupefilter.type, crawl.keys.dupefilter) and class
end

-- Compares the size with what was written. O(1). Called where no request is in work whose links could be dropped meanwhile, and
-- before seeds are accepted.
function marks.look(crawl)
  local class = watched(crawl)
  if not class then return end
  local size, written = class.size(crawl), meta.number(crawl, 'marks')
  if size < written then
    noteGone(crawl, written - size)
    if size == 0 then meta.set(crawl, 'starts_again', '1') end
    pieces.discardLeft(crawl)
  end
  if size ~= written then meta.set(crawl, 'marks', size) end
end

-- Of some pieces, by their numbers, those that are gone. One that was noted once is not found again while it is missing.
function marks.gonePieces(crawl, class, numbers)
  local index, names, gone = pieces.index(crawl), {}, {}
  for i, number in ipairs(numbers) do names[i] = index.prefix .. number end
  if #names == 0 or redis.call('EXISTS', unpack(names)) == #names then return gone end
  for i, number in ipairs(numbers) do
    local isGone = class.holdsAny(index, number) and redis.call('EXISTS', names[i]) == 0
    if isGone and redis.call('HEXISTS', crawl.keys.index, 'gone:' .. number) == 0 then gone[#gone + 1] = number end
  end
  return gone
end

-- Returns how many fingerprints they are taken to have held.
function marks.noteGonePieces(crawl, gone)
  if #gone == 0 then return 0 end
  local index = pieces.index(crawl)
  for _, number in ipairs(gone) do redis.call('HSET', crawl.keys.index, 'gone:' .. number, 1) end
  -- How many each of them held is not known: as many as the others, on the mean.
  local lost = math.max(1, math.floor(#gone * index.seen / index.pieces))
  index.seen = redis.call('HINCRBY', crawl.keys.index, 'seen', -lost)
  marks.add(crawl, -lost)
  noteGone(crawl, lost)
  return lost
end

-- Looks at the next pieces in turn.
local function lookAtPieces(crawl, class)
  local index, from, numbers = pieces.index(crawl), meta.number(crawl, 'pieces_looked'), {}
  for i = 1, math.min(PIECES, index.pieces) do numbers[i] = (from + i - 1) % index.pieces end
  if #numbers > 0 then meta.set(crawl, 'pieces_looked', (from + #numbers) % index.pieces) end
  marks.noteGonePieces(crawl, marks.gonePieces(crawl, class, numbers))
end

-- The same with each heartbeat, and whether somebody set a time to live: meta.marks_expire is 1 while a key has one.
function marks.lookClosely(crawl)
  marks.look(crawl)
  local class = watched(crawl)
  if not class then return end
  if class.holdsAny then lookAtPieces(crawl, class) end
  local at = crawl.keys
  local expires = redis.call('PTTL', at.dupefilter) >= 0 or redis.call('PTTL', at.index) >= 0
  if expires ~= (meta.get(crawl, 'marks_expire') == '1') then meta.set(crawl, 'marks_expire', expires and '1' or '') end
end
