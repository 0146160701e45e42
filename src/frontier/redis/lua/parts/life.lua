-- What happens to requests, noted in the StateDupeFilter. An entry is 11 bytes: state, instant in ms (6), HTTP status
-- or 0 (2), attempts (2). What has no entry gets none: it is unfiltered, or was forgotten.

local LETTERS = { pending = 'p', leased = 'l', delayed = 'd', retry = 'd', done = 'x', failed = 'f' }
-- Of a request that begins anew.
local UNTRIED = '\0\0\0\0'

local function packLife(state, status, attempts) return encode('>c1I6I2I2', LETTERS[state], nowMs, status, attempts) end

-- how: 4 bytes of HTTP status and attempts, at: where in it, the beginning unless said otherwise; nil leaves them as
-- they are.
local function noteLife(id, state, how, at)
  local entry = call('HGET', dupefilter, id)
  if entry then call('HSET', dupefilter, id, packLife(state, decode('>I2I2', how or sub(entry, 8), at or 1))) end
end

-- The same of many at once: two commands instead of two for each. hows: where in `how`, of each.
local function noteLives(ids, state, how, hows)
  local entries, pairsToSet = fetched('HMGET', dupefilter, ids), {}
  for i = 1, #ids do
    if entries[i] then
      pairsToSet[#pairsToSet + 1] = ids[i]
      pairsToSet[#pairsToSet + 1] = packLife(state, decode('>I2I2', how or entries[i], how and hows[i] or 8))
    end
  end
  chunked('HSET', dupefilter, pairsToSet)
end

-- { letter, instant in ms, status or 0, attempts }, empty when nothing is known.
local function lifeOf(id)
  local entry = call('HGET', dupefilter, id)
  if not entry then return {} end
  local letter, atMs, status, attempts = decode('>c1I6I2I2', entry)
  return { letter, atMs, status, attempts }
end
