-- BloomDupeFilter: k bits set for each fingerprint, in slices (bloom-sizing.ts has the arithmetic; the sizes come with
-- args.dupefilter: capacity, bits, hashes, bitsPerHalving). A slice consists of chunks of 256 KiB; with 1 MiB the last one
-- would waste more, and allocating one would take longer. All bits of a fingerprint lie in one chunk, so that one
-- command sets them; a chunk holds so many fingerprints that chunks fill evenly. Redis doubles a bitmap that
-- grows, so a chunk is allocated whole, by clearing the bit behind its last one.
--
-- A mark is a fingerprint, 20 raw bytes, of which four numbers are used: its place among the chunks (6 bytes), then behind
-- 2 others its first bit, the step to the next, and what the step grows by each time (4 each).

-- With the header that Redis adds to a string it fits 262,144 bytes.
local CHUNK_BITS = 8 * 262080
-- Chunks allocated with each batch, until all of a slice are: a slice for 10^8 has 700, too many for one step.
local ALLOCATE = 4
local TWO32 = 4294967296

-- { bits, hashes, chunks, first: number of its first chunk } of each slice.
local function slicesOf(crawl, index)
  local sizing, slices = crawl.args.dupefilter, crawl.slices or {}
  crawl.slices = slices
  for number = #slices + 1, index.slices do
    local halvings, before = 0, slices[number - 1]
    while 2 ^ halvings < number * (number - 1) do halvings = halvings + 1 end
    local bits = sizing.bits + halvings * sizing.bitsPerHalving
    slices[number] = { bits = bits, hashes = sizing.hashes + halvings, chunks = math.ceil(bits / CHUNK_BITS),
      first = before and before.first + before.chunks or 0 }
  end
  return slices
end

-- Of a fingerprint in a slice: number of its chunk, and the positions of its bits, by enhanced double hashing (Dillinger
-- and Manolios, 2004), as in the embedded engine. With a steady step, or with all of it modulo the size, small filters
-- err more than they say: a step that divides the size meets the same few bits.
local function bitsOf(slice, mark)
  local place, at, step, bend = struct.unpack('>I6xxI4I4I4', mark)
  local chunk = math.floor(place % slice.bits / CHUNK_BITS)
  local size, positions = math.min(CHUNK_BITS, slice.bits - chunk * CHUNK_BITS), {}
  for i = 1, slice.hashes do
    positions[i] = math.floor(at / TWO32 * size)
    at = (at + step) % TWO32
    step = (step + bend) % TWO32
  end
  return slice.first + chunk, positions
end

-- Bit by bit: half of them are set, so a fingerprint that is not in it is told after two. Rejected: BITFIELD_RO for all
-- of them, which takes twice the time where there are ten slices.
local function isIn(index, slice, mark)
  local chunk, positions = bitsOf(slice, mark)
  for _, position in ipairs(positions) do
    if redis.call('GETBIT', index.prefix .. chunk, position) == 0 then return false end
  end
  return true
end

-- Newest slice first: it is the emptiest, so it shows soonest that a fingerprint is not in it.
local function isInAny(index, slices, newest, mark)
  for number = newest, 1, -1 do
    if isIn(index, slices[number], mark) then return true end
  end
  return false
end

-- chunk: its number, counted over all slices; it belongs to the newest slice.
local function allocate(index, slice, chunk)
  local size = math.min(CHUNK_BITS, slice.bits - (chunk - slice.first) * CHUNK_BITS)
  redis.call('SETBIT', index.prefix .. chunk, size, 0)
end

-- Returns whether any of its bits was not set.
local function setBits(index, slice, mark)
  local chunk, positions = bitsOf(slice, mark)
  if chunk >= index.allocated then allocate(index, slice, chunk) end
  local settings = {}
  for i, position in ipairs(positions) do
    settings[4 * i - 3], settings[4 * i - 2], settings[4 * i - 1], settings[4 * i] = 'SET', 'u1', position, 1
  end
  for _, bit in ipairs(redis.call('BITFIELD', index.prefix .. chunk, unpack(settings))) do
    if bit == 0 then return true end
  end
  return false
end

dupefilters.BloomDupeFilter = {
  seen = function(crawl, marks)
    local index, flags = pieces.index(crawl), {}
    local slices = slicesOf(crawl, index)
    for i, mark in ipairs(marks) do flags[i] = isInAny(index, slices, #slices, mark) and 1 or 0 end
    return flags
  end,
  record = function(crawl, marks, _, judged)
    if #marks == 0 then return 0 end
    local index = pieces.begin(crawl)
    local before = index.seen
    local slices = slicesOf(crawl, index)
    for _, mark in ipairs(marks) do
      if index.slices == 0 or index.filled >= crawl.args.dupefilter.capacity then
        index.slices, index.filled, index.allocated = index.slices + 1, 0, index.pieces
        slices = slicesOf(crawl, index)
        index.pieces = index.pieces + slices[#slices].chunks
      end
      if (judged or not isInAny(index, slices, #slices - 1, mark)) and setBits(index, slices[#slices], mark) then
        index.seen, index.filled = index.seen + 1, index.filled + 1
      end
    end
    for chunk = index.allocated, math.min(index.allocated + ALLOCATE, index.pieces) - 1 do
      allocate(index, slices[#slices], chunk)
      index.allocated = chunk + 1
    end
    pieces.save(crawl)
    return index.seen - before
  end,
  size = function(crawl) return pieces.index(crawl).seen end,
  holdsAny = function(index, number) return number < index.allocated end,
}
