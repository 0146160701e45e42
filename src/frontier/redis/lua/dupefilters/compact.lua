-- CompactDupeFilter: the first 64 bits of each fingerprint, as signed integers in SETs small enough to stay intsets (8
-- bytes an entry). A mark is such a number as decimal text. The SETs are buckets of a linear hash: whenever they hold more
-- than FILL on the mean, the next one in turn is split in two, so no step moves more than one bucket. Just before its
-- turn a bucket holds twice the mean: 384 and some, below the 512 (set-max-intset-entries) beyond which Redis makes it a
-- hash table of seven times the size.
local FILL = 192

-- The largest power of two that is not above the number of buckets.
local function roundOf(buckets)
  local round = 1
  while round * 2 <= buckets do round = round * 2 end
  return round
end

-- By its last nine digits, which can be read back from the entry itself.
local function hashOf(mark) return math.abs(tonumber(string.sub(mark, -9))) end

local function bucketOf(index, round, mark)
  local bucket = hashOf(mark) % (2 * round)
  if bucket >= index.pieces then bucket = hashOf(mark) % round end
  return index.prefix .. bucket
end

local function splitNextBucket(index)
  local round = roundOf(index.pieces)
  local from, to, moved = index.prefix .. (index.pieces - round), index.pieces, {}
  for _, mark in ipairs(redis.call('SMEMBERS', from)) do
    if hashOf(mark) % (2 * round) == to then moved[#moved + 1] = mark end
  end
  lists.send('SADD', index.prefix .. to, moved)
  lists.send('SREM', from, moved)
  index.pieces = index.pieces + 1
end

local TWO31, BILLION = 2147483648, 1000000000

-- The digits of high * 2^32 + low, which a number of Lua does not hold exactly: in billions, and in two steps.
local function decimal(high, low)
  local top = math.floor(high / 65536)
  local rest = top * 976710656 + high % 65536 * 2 * TWO31 + low
  local billions = top * 281474 + math.floor(rest / BILLION)
  if billions == 0 then return lists.digits(rest) end
  return lists.digits(billions) .. string.format('%09d', rest % BILLION)
end

dupefilters.CompactDupeFilter = {
  seen = function(crawl, marks)
    local index, flags = pieces.index(crawl), {}
    local round = roundOf(index.pieces)
    for i, mark in ipairs(marks) do
      flags[i] = index.pieces == 0 and 0 or redis.call('SISMEMBER', bucketOf(index, round, mark), mark)
    end
    return flags
  end,
  record = function(crawl, marks)
    if #marks == 0 then return 0 end
    local index = pieces.begin(crawl)
    local before = index.seen
    index.pieces = math.max(1, index.pieces)
    local round = roundOf(index.pieces)
    for _, mark in ipairs(marks) do
      index.seen = index.seen + redis.call('SADD', bucketOf(index, round, mark), mark)
      -- At once, not at the end of the batch: a set that was a hash table for a moment stays one.
      if index.seen > FILL * index.pieces then
        splitNextBucket(index)
        round = roundOf(index.pieces)
      end
    end
    pieces.save(crawl)
    return index.seen - before
  end,
  forget = function(crawl, mark)
    local index = pieces.index(crawl)
    if index.pieces == 0 then return 0 end
    local was = redis.call('SREM', bucketOf(index, roundOf(index.pieces), mark), mark)
    if was == 1 then index.seen = redis.call('HINCRBY', crawl.keys.index, 'seen', -1) end
    return was
  end,
  markOf = function(id)
    local high, low = struct.unpack('>I4I4', id)
    local isNegative = high >= TWO31
    if isNegative then
      high, low = 2 * TWO31 - 1 - high, 2 * TWO31 - low
      if low == 2 * TWO31 then high, low = high + 1, 0 end
    end
    return (isNegative and '-' or '') .. decimal(high, low)
  end,
  size = function(crawl) return pieces.index(crawl).seen end,
  -- On the mean a piece holds 192. Where many were forgotten, one may be empty.
  holdsAny = function(index) return index.pieces == 1 and index.seen > 0 or index.seen >= 32 * index.pieces end,
}
