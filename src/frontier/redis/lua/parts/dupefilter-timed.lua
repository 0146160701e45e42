-- TimedRFPDupeFilter: a ZSET fingerprint → the instant it is forgotten, in ms; +inf is never. A fingerprint is 20 raw
-- bytes: no tool of Scrapy-Redis reads this key (its recipe is EXPIRE on the whole set), and hex takes 32 bytes more.
-- uses: agreement raw-marks

local DUPEFILTER_TYPE = 'zset'
-- So many of the forgotten are removed at least with each batch, and twice as many as come in.
local PURGE = 100

local function seenFlags(marks)
  local flags = {}
  for i = 1, #marks, MAX_UNPACK do
    for _, score in ipairs(call('ZMSCORE', dupefilter, unpack(marks, i, min(i + MAX_UNPACK - 1, #marks)))) do
      flags[#flags + 1] = (score and tonumber(score) > nowMs) and 1 or 0
    end
  end
  return flags
end

local function removeForgotten(most)
  local due = call('ZRANGEBYSCORE', dupefilter, '-inf', nowMs, 'LIMIT', 0, most)
  if #due > 0 then call('ZREM', dupefilter, unpack(due)) end
end

local function rememberUntil(latest, marks)
  local pairsToSet = {}
  for _, mark in ipairs(marks) do
    pairsToSet[#pairsToSet + 1] = latest
    pairsToSet[#pairsToSet + 1] = mark
  end
  chunked('ZADD', dupefilter, pairsToSet)
end

-- An instant further away than the span is of a clock that jumped back (a failover): it counts from now.
local function clampInstants(latest, most)
  rememberUntil(latest, call('ZRANGEBYSCORE', dupefilter, '(' .. latest, '+inf', 'LIMIT', 0, most))
end

-- Accepted again, a fingerprint is remembered anew; met again, it is not: that would keep a page that is linked from
-- everywhere from ever being fetched again.
local function recordMarks(marks)
  if #marks == 0 then return end
  local latest, most = '+inf', min(PURGE + 2 * #marks, MAX_UNPACK)
  if EXPIRE_MS > 0 then
    latest = string.format('%.0f', nowMs + EXPIRE_MS)
    removeForgotten(most)
    clampInstants(latest, most)
  end
  rememberUntil(latest, marks)
end

local function forgetMark(mark)
  local was = seenFlags({ mark })[1]
  call('ZREM', dupefilter, mark)
  return was
end

local function seenCount() return call('ZCOUNT', dupefilter, '(' .. string.format('%.0f', nowMs), '+inf') end
