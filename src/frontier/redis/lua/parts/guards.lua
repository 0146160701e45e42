-- A store that is full, or whose keys hold something else.

-- With maxmemory reached Redis refuses a script's first writing command if it may need memory, and none after it.
-- So a script that must go on all the same writes nothing first, or confirms answers; one that must wait asks for
-- memory first.

local function evenWhenFull() call('HDEL', answersKey, '') end

local function unlessFull() call('HSETNX', metaKey, 'version', FORMAT) end

local function hasNoMemory() return type(redis.pcall('HSETNX', metaKey, 'version', FORMAT)) == 'table' end

local function isOf(type, key)
  local found = call('TYPE', key).ok
  return found == 'none' or found == type
end
