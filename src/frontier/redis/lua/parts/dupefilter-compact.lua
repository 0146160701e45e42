-- CompactDupeFilter: the first 64 bits of each fingerprint, as signed integers in SETs small enough to stay intsets (8
-- bytes an entry). The SETs are buckets of a linear hash: whenever they hold more than FILL on the mean, the next one
-- in turn is split in two, so that no step moves more than one bucket. Just before its turn a bucket holds twice the
-- mean: 384 and some, below the 512 (set-max-intset-entries) beyond which Redis makes it a hash table of seven times
-- the size.
-- uses: agreement dupefilter-pieces

local DUPEFILTER_TYPE = 'none'
local FILL = 192

-- A 64-bit integer as decimal text. A Lua number is exact to 2^53, so 2^32 is taken as 4294 × 10^6 + 967296.
local function decimalOf(id)
  local high, low = decode('>I4I4', id)
  local sign = ''
  if high >= 2147483648 then
    sign = '-'
    high = 4294967296 - high - (low > 0 and 1 or 0)
    low = (4294967296 - low) % 4294967296
  end
  local small = high * 967296 + low
  local carry = floor(small / 1000000)
  local large = high * 4294 + carry
  if large == 0 then return sign .. string.format('%.0f', small) end
  return sign .. string.format('%.0f%06.0f', large, small - carry * 1000000)
end

local function marksOf(text, idsAt, _, count)
  local marks = {}
  for i = 1, count do marks[i] = decimalOf(sub(text, idsAt + i * 20 - 20, idsAt + i * 20 - 13)) end
  return marks
end

-- The largest power of two that is not above the number of buckets.
local round = 1

local function roundOf(buckets)
  while round * 2 <= buckets do round = round * 2 end
  return round
end

-- The bucket of an entry: by its last nine digits, which a script can read back from the entry itself.
local function bucketOf(mark)
  local hash = math.abs(tonumber(sub(mark, -9)))
  local bucket = hash % (2 * round)
  if bucket >= index.pieces then bucket = hash % round end
  return bucket
end

local function seenFlags(marks)
  readIndex()
  local flags = {}
  if index.pieces == 0 then
    for i = 1, #marks do flags[i] = 0 end
    return flags
  end
  roundOf(index.pieces)
  for i, mark in ipairs(marks) do flags[i] = call('SISMEMBER', index.prefix .. bucketOf(mark), mark) end
  return flags
end

local function splitNextBucket()
  local from, to = index.pieces - roundOf(index.pieces), index.pieces
  local moved = {}
  for _, mark in ipairs(call('SMEMBERS', index.prefix .. from)) do
    if math.abs(tonumber(sub(mark, -9))) % (2 * round) == to then moved[#moved + 1] = mark end
  end
  chunked('SADD', index.prefix .. to, moved)
  chunked('SREM', index.prefix .. from, moved)
  index.pieces = index.pieces + 1
  roundOf(index.pieces)
end

local function recordMarks(marks)
  if #marks == 0 then return end
  readIndex()
  beginIndex()
  index.pieces = max(1, index.pieces)
  roundOf(index.pieces)
  for _, mark in ipairs(marks) do
    index.seen = index.seen + call('SADD', index.prefix .. bucketOf(mark), mark)
    -- At once, not at the end of the batch: a set that was a hash table for a moment stays one.
    if index.seen > FILL * index.pieces then splitNextBucket() end
  end
  saveIndex()
end

local function forgetMark(mark)
  readIndex()
  if index.pieces == 0 then return 0 end
  roundOf(index.pieces)
  local was = call('SREM', index.prefix .. bucketOf(mark), mark)
  if was == 1 then call('HINCRBY', indexKey, 'seen', -1) end
  return was
end
