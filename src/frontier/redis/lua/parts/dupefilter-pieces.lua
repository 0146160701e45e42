-- A dupefilter of many keys: `<dupefilter>:~index` HASH { generation, pieces, seen … } and the pieces 0, 1, 2 … as
-- `<dupefilter>:~piece:<generation>:<number>`. What is cleared leaves at once with its index; its pieces are left to
-- be swept in steps (sweep.lua), while a new generation may begin.

local indexKey = dupefilter .. ':~index'
local index, isIndexRead = {}, false

local function readIndex()
  if isIndexRead then return end
  isIndexRead = true
  local found = call('HMGET', indexKey, 'generation', 'pieces', 'seen', 'slices', 'filled', 'allocated')
  index.generation = found[1]
  index.pieces, index.seen = tonumber(found[2] or 0), tonumber(found[3] or 0)
  index.slices, index.filled = tonumber(found[4] or 0), tonumber(found[5] or 0)
  index.allocated = tonumber(found[6] or 0)
  index.prefix = dupefilter .. ':~piece:' .. (found[1] or '') .. ':'
end

-- The time tells generations apart.
local function beginIndex()
  if index.generation then return end
  index.generation = string.format('%.0f', nowUs)
  index.prefix = dupefilter .. ':~piece:' .. index.generation .. ':'
end

local function saveIndex()
  call('HSET', indexKey, 'generation', index.generation, 'pieces', index.pieces, 'seen', index.seen, 'slices',
    index.slices, 'filled', index.filled, 'allocated', index.allocated)
end

local function seenCount()
  readIndex()
  return index.seen
end
