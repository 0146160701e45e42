-- Take converted external seeds in: remove each exact value and accept its requests, or put it aside as bad, only if
-- it was still there. Atomic: a seed is never out of its key without being in the frontier, and never in twice.
--
-- ARGV: 4 kind (seeds | seeds-filtered) · 5 start_urls type (list | set | zset) · 6 seeds · 7 key index (1…) ·
-- 8 queue class and 9 epoch for a new meta ('': make none) · then for each seed: value, number of requests (-1: bad),
-- JSON for the bad list ('' when good), and when it has requests their batch.
-- Returns { accepted, duplicates, bad }. O(n log m), and for a list n times what was put before the batch since it was
-- read.
-- uses: answers acceptance

local kind, type, count, key = ARGV[4], ARGV[5], tonumber(ARGV[6]), KEYS[FIRST_START_URLS - 1 + tonumber(ARGV[7])]
-- Values compared at most in search of a batch, some 0.5 ms; but not less than 500 for each.
local SEARCHED = 100000

createMeta(ARGV[8], ARGV[9])
local refusal = readMeta(acceptFields()) or refuseForeign()
if refusal then return redis.error_reply(refusal) end
agreeOnDupefilter()
local first = firstAnswer()
if first then return cmsgpack.unpack(first) end
if not isOf(type, key) then return redis.error_reply('WRONGTYPE ' .. key .. ' is no ' .. type) end
if not isOf('list', key .. ':bad') then return redis.error_reply('WRONGTYPE ' .. key .. ':bad is no list') end
unlessFull()
confirmArrived()

local values, at = {}, 10
for i = 1, count do
  local requestCount = tonumber(ARGV[at + 1])
  values[i] = { value = ARGV[at], requests = requestCount, bad = ARGV[at + 2], at = at + 3 }
  at = at + 3 + (requestCount > 0 and 1 or 0)
end

-- A batch was read at the head of its list, and what was put before it meanwhile stays there: LREM finds a value in as
-- many steps as values were put before. Where another node took it, the search is bounded; one that lies deeper (so
-- much was put before it while it was converted) stays, to be read and converted again.
local depth = max(500, floor(SEARCHED / count))
local take = {
  list = function(value) return call('LPOS', key, value, 'MAXLEN', depth) and call('LREM', key, 1, value) == 1 end,
  set = function(value) return call('SREM', key, value) == 1 end,
  zset = function(value) return call('ZREM', key, value) == 1 end,
}
local removed = take[type]

local accepted, duplicates, bad = 0, 0, 0
for _, value in ipairs(values) do
  if removed(value.value) then
    if value.requests < 0 then
      call('RPUSH', key .. ':bad', value.bad)
      bad = bad + 1
    elseif value.requests > 0 then
      local a, d = accept(ARGV[value.at], 1, value.requests, kind)
      accepted, duplicates = accepted + a, duplicates + d
    end
  end
end
local answer = { accepted, duplicates, bad }
keepAnswer(cmsgpack.pack(answer))
flush()
return answer
