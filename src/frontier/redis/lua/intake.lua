-- Take converted external seeds in: remove each exact value and accept its requests, or put it aside as bad, only if
-- it was still there. Atomic: a seed is never out of its key without being in the frontier, and never in twice.
--
-- ARGV: 4 kind (seeds | seeds-filtered) · 5 start_urls type (list | set | zset) · 6 seeds · 7 key index (1…) ·
-- 8 queue class and 9 epoch for a new meta ('': make none) · then for each seed: value, number of requests (-1: bad),
-- JSON for the bad list ('' when good), and when it has requests the 4 batch arguments and its records.
-- Returns { accepted, duplicates, bad }. O(n log m); a list is read once, over the batch and what was put before it.
-- uses: answers acceptance

local kind, type, count, key = ARGV[4], ARGV[5], tonumber(ARGV[6]), KEYS[FIRST_START_URLS - 1 + tonumber(ARGV[7])]
local SLACK = 200

createMeta(ARGV[8], ARGV[9])
local refusal = readMeta(unpack(ACCEPT_FIELDS)) or refuseForeign()
if refusal then return redis.error_reply(refusal) end
local first = firstAnswer()
if first then return cmsgpack.unpack(first) end
if not isOf('list', key .. ':bad') then return redis.error_reply('WRONGTYPE the list of bad seeds holds another type') end
unlessFull()
confirmArrived()

local values, at = {}, 10
for i = 1, count do
  local requestCount = tonumber(ARGV[at + 1])
  values[i] = { value = ARGV[at], requests = requestCount, bad = ARGV[at + 2], at = at + 3 }
  at = at + 3 + (requestCount > 0 and 4 + requestCount or 0)
end

-- A list is taken from its head; values that were put before the batch meanwhile stay where they are.
local function takenFromList()
  local wanted, taken, kept = {}, {}, {}
  for _, value in ipairs(values) do wanted[value.value] = (wanted[value.value] or 0) + 1 end
  local present = call('LRANGE', key, 0, count + SLACK - 1)
  local last, left = 0, count
  for i, value in ipairs(present) do
    if left == 0 then break end
    if (wanted[value] or 0) > 0 then
      wanted[value] = wanted[value] - 1
      taken[value] = (taken[value] or 0) + 1
      left = left - 1
      last = i
    end
  end
  local again = {}
  for value, n in pairs(taken) do again[value] = n end
  for i = 1, last do
    if (again[present[i]] or 0) > 0 then again[present[i]] = again[present[i]] - 1 else kept[#kept + 1] = present[i] end
  end
  call('LTRIM', key, last, -1)
  for i = #kept, 1, -1 do call('LPUSH', key, kept[i]) end
  return function(value)
    if (taken[value] or 0) == 0 then return false end
    taken[value] = taken[value] - 1
    return true
  end
end

local removed
if type == 'list' then
  removed = takenFromList()
else
  local command = type == 'set' and 'SREM' or 'ZREM'
  removed = function(value) return call(command, key, value) == 1 end
end

local accepted, duplicates, bad = 0, 0, 0
for _, value in ipairs(values) do
  if removed(value.value) then
    if value.requests < 0 then
      call('RPUSH', key .. ':bad', value.bad)
      bad = bad + 1
    elseif value.requests > 0 then
      local a, d = accept(value.at, value.at + 4, value.requests, kind)
      accepted, duplicates = accepted + a, duplicates + d
    end
  end
end
local answer = { accepted, duplicates, bad }
keepAnswer(cmsgpack.pack(answer))
flush()
return answer
