-- BloomDupeFilter: k bits set for each fingerprint, in slices (bloom-sizing.ts has the arithmetic, and gives CAPACITY,
-- BITS, HASHES, BITS_PER_HALVING). A slice lies in chunks of 256 KiB all told: of 1 MiB the last one would waste more,
-- and allocating one would take longer. All bits of a fingerprint lie in one chunk, so that one command sets
-- them; a chunk has room for so many fingerprints that chance fills all alike. Redis doubles a bitmap that grows, so a
-- chunk is allocated whole, by clearing the bit behind its last one.
-- uses: agreement dupefilter-pieces

local DUPEFILTER_TYPE = 'none'
-- A byte more, what Redis puts around a string, and it fits 262,144 bytes.
local CHUNK_BITS = 8 * 262080
-- Chunks allocated with each batch, until all of a slice are: a slice for 10^8 has 700, too many for one step.
local ALLOCATE = 4

local slices = {}

local function sliceOf(number)
  local halvings = 0
  while 2 ^ halvings < number * (number - 1) do halvings = halvings + 1 end
  local bits = BITS + halvings * BITS_PER_HALVING
  local before = slices[number - 1]
  local first = before and before.first + before.chunks or 0
  return { bits = bits, hashes = HASHES + halvings, chunks = math.ceil(bits / CHUNK_BITS), first = first }
end

local function readSlices()
  readIndex()
  for number = #slices + 1, index.slices do slices[number] = sliceOf(number) end
end

-- A fingerprint as four numbers: its place among the chunks (48 bits), its first bit, the step to the next, and what
-- the step grows by each time (32 bits each).
local function marksOf(text, idsAt, _, count)
  local marks = {}
  for i = 1, count do
    local place, first, step, bend = decode('>I6xxI4I4I4', text, idsAt + i * 20 - 20)
    marks[i] = { place, first, step, bend }
  end
  return marks
end

local TWO32 = 4294967296

local function pieceOf(slice, mark)
  local chunk = floor(mark[1] % slice.bits / CHUNK_BITS)
  return slice.first + chunk, min(CHUNK_BITS, slice.bits - chunk * CHUNK_BITS)
end

-- The bits of a fingerprint in a slice of this size, one after the other, by enhanced double hashing (Dillinger and
-- Manolios, 2004), as in the embedded engine. With a steady step, or with all of it modulo the size, small filters err
-- more than they say: a step that divides the size meets the same few bits, and there are only so many pairs of a first
-- bit and a step.
local function bitsOf(mark, size)
  local at, step, bend = mark[2], mark[3], mark[4]
  return function()
    local bit = floor(at / TWO32 * size)
    at = (at + step) % TWO32
    step = (step + bend) % TWO32
    return bit
  end
end

-- Bit by bit: half of them are set, so a fingerprint that is not in it is told after two. Rejected: BITFIELD_RO for all
-- of them, which takes twice the time where there are ten slices.
local function isIn(slice, mark)
  local piece, size = pieceOf(slice, mark)
  local nextBit = bitsOf(mark, size)
  for _ = 1, slice.hashes do
    if call('GETBIT', index.prefix .. piece, nextBit()) == 0 then return false end
  end
  return true
end

-- The newest slice is the emptiest, where a no is found first.
local function isInAny(mark, newest)
  for number = newest, 1, -1 do
    if isIn(slices[number], mark) then return true end
  end
  return false
end

local function seenFlags(marks)
  readSlices()
  local flags = {}
  for i, mark in ipairs(marks) do flags[i] = isInAny(mark, #slices) and 1 or 0 end
  return flags
end

-- piece: counted over all slices; it is one of the newest.
local function allocate(piece)
  local slice = slices[#slices]
  local chunk = piece - slice.first
  call('SETBIT', index.prefix .. piece, min(CHUNK_BITS, slice.bits - chunk * CHUNK_BITS), 0)
end

local function openSlice()
  index.slices, index.filled, index.allocated = index.slices + 1, 0, index.pieces
  readSlices()
  index.pieces = index.pieces + slices[#slices].chunks
end

local isAllocated = {}

-- Returns whether any of its bits was not set.
local function setBits(mark)
  local slice = slices[#slices]
  local piece, size = pieceOf(slice, mark)
  if piece >= index.allocated and not isAllocated[piece] then
    allocate(piece)
    isAllocated[piece] = true
  end
  local nextBit, settings = bitsOf(mark, size), {}
  for _ = 1, slice.hashes do
    settings[#settings + 1] = 'SET'
    settings[#settings + 1] = 'u1'
    settings[#settings + 1] = nextBit()
    settings[#settings + 1] = 1
  end
  for _, bit in ipairs(call('BITFIELD', index.prefix .. piece, unpack(settings))) do
    if bit == 0 then return true end
  end
  return false
end

-- judged: they were not seen a moment ago, so no older slice has them.
local function recordMarks(marks, _, judged)
  if #marks == 0 then return end
  readSlices()
  beginIndex()
  for _, mark in ipairs(marks) do
    if index.slices == 0 or index.filled >= CAPACITY then openSlice() end
    if (judged or not isInAny(mark, #slices - 1)) and setBits(mark) then
      index.seen, index.filled = index.seen + 1, index.filled + 1
    end
  end
  for piece = index.allocated, min(index.allocated + ALLOCATE, index.pieces) - 1 do
    allocate(piece)
    index.allocated = piece + 1
  end
  saveIndex()
end
