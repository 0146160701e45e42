-- Answers are kept until they are known to have arrived: a call sent again gets its first and does nothing.

-- Its command needs no memory, so that what follows is let through also when the store is full (see guards.lua).
local function confirmArrived()
  local fields = { '' }
  for callNumber in string.gmatch(ARGV[3], '[^,]+') do fields[#fields + 1] = ARGV[1] .. ':' .. callNumber end
  chunked('HDEL', answersKey, fields)
end

local function firstAnswer() return call('HGET', answersKey, ARGV[1] .. ':' .. ARGV[2]) end

local function keepAnswer(answer) call('HSET', answersKey, ARGV[1] .. ':' .. ARGV[2], answer) end
