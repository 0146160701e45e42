-- Answers are kept until they are known to have arrived: a call sent again gets its first and does nothing.

-- Its command needs no memory, so that what follows is let through also when the store is full (see guards.lua).
local function confirmArrived()
  local fields = { '' }
  for callNumber in string.gmatch(ARGV[3], '[^,]+') do fields[#fields + 1] = ARGV[1] .. ':' .. callNumber end
  chunked('HDEL', answersKey, fields)
end

local function firstAnswer() return call('HGET', answersKey, ARGV[1] .. ':' .. ARGV[2]) end

local function keepAnswer(answer) call('HSET', answersKey, ARGV[1] .. ':' .. ARGV[2], answer) end

-- A call's settles, a line each, apart from what else it answers: a settle that is sent again may travel with others.
local function settledText(callNumber) return call('HGET', answersKey, ARGV[1] .. ':s' .. callNumber) end

-- Those that changed something (false of the others).
local function settledOnes(text) -- rarely: seldom
  local lines = {}
  for line in string.gmatch(text or '', '[^\n]+') do
    lines[#lines + 1] = line ~= 'lost' and line ~= 'resend' and line
  end
  return lines
end

local function keepSettled(lines) call('HSET', answersKey, ARGV[1] .. ':s' .. ARGV[2], lines) end
