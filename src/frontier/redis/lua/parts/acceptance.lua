-- What push, settle and intake have in common: a batch of requests is judged and stored.
-- uses: meta guards queue limits dupefilter

-- A batch is one text: bytes of its domain names and of its records (4 each) · ids (20 bytes each) · fingerprints (40
-- hex each) · 22 bytes each: 5 of priority, 2 domain index, 1 unfiltered, 6 delay in ms, 4 where the record begins, 4
-- its length · domain names, each followed by a NUL · records, one after the other.
-- One text, and the last argument of a call: then Redis reads it in one piece, or two (measured: with five arguments a
-- page of 1,000 new links took 2.4 reads); an argument for each record would cost 0.4 µs, also for those that nobody
-- looks at.
local BATCH_HEAD, NUMBERS, NUMBERS_FORMAT = 8, 22, '>c5I2I1I6I4I4'
local LINK = 82

-- at: where it begins. Returns where its ids, fingerprints, numbers, domain names and records do. (Nothing is cut out:
-- each byte that Lua allocates is paid for once more by its collector.)
local function partsOfBatch(text, at, size)
  local idsAt = at + BATCH_HEAD
  local namesAt = idsAt + LINK * size
  return idsAt, idsAt + 20 * size, idsAt + 60 * size, namesAt, namesAt + decode('>I4', text, at)
end

-- Where what follows a batch begins.
local function behindBatch(text, at, size) -- rarely: links
  local nameBytes, recordBytes = decode('>I4I4', text, at)
  return at + BATCH_HEAD + LINK * size + nameBytes + recordBytes
end

local function namesOf(text)
  local names = {}
  for name in string.gmatch(text, '([^%z]*)%z') do names[#names + 1] = name end
  return names
end

-- Requests that end in this script, and are removed with it: no longer live.
local ended = {}

-- What of meta it takes to accept a batch, which may be none.
local function acceptFields(batch)
  if batch == '' then return 'dupefilter' end
  return 'dupefilter', 'queue', 'arrival', 'domain_numbers', 'limit', 'accepted', 'run_accepted', 'queue_limit'
end

-- An error half-way would leave a half-written verb, so what may fail is asked first; meta has been read.
local function refuseForeign()
  local other = otherDupefilter()
  if other then return other end
  if not (isOf(DUPEFILTER_TYPE, dupefilter) and isOf('list', itemsKey) and isOf('hash', statsKey)) then
    return 'WRONGTYPE the dupefilter, items or stats key of this crawl holds another type'
  end
  return nil
end

-- Brings a failed request back with the record of the seed that asks for it.
local function revive(id, record)
  if call('ZREM', failedKey, id) == 0 then return false end
  call('HDEL', failuresKey, id)
  call('HDEL', crashesKey, id)
  call('HSET', requests, id, record)
  return true
end

local function isJudged(kind) return kind == 'links' or kind == 'seeds-filtered' end

-- Stores and orders those of the asked that have no live record. text: the batch's, numbersAt, recordsAt: where those
-- begin.
local function acceptUnseen(asked, ids, marks, names, text, numbersAt, recordsAt, kind)
  local stored, taken = fetched('HMGET', requests, ids), {}
  local new, fresh, recorded, delayed = {}, {}, {}, {}
  local newSize, freshSize, accepted, dropped, unseen = 0, 0, 0, 0, 0
  local room = kind == 'links' and roomForLinks() or math.huge
  -- Beyond FAILED_LIMIT a failed request has no record any more, and is live all the same.
  local anyFailed = call('ZCARD', failedKey) > 0
  for n = 1, #asked do
    local i, id = asked[n], ids[n]
    local priority, index, unfiltered, delayMs, from, length =
      decode(NUMBERS_FORMAT, text, numbersAt + (i - 1) * NUMBERS)
    local record = recordsAt + from
    local live = taken[id] or (stored[n] and not ended[id]) or (anyFailed and call('ZSCORE', failedKey, id))
    local revived = live and not taken[id] and kind ~= 'links' and revive(id, sub(text, record, record + length - 1))
    if not live and accepted >= room then
      dropped = dropped + 1
    elseif revived or not live then
      taken[id], ended[id] = true, nil
      accepted = accepted + 1
      if not revived then
        fresh[freshSize + 1], fresh[freshSize + 2] = id, sub(text, record, record + length - 1)
        freshSize = freshSize + 2
      end
      if unfiltered == 0 then recorded[#recorded + 1] = marks[i] end
      if delayMs > 0 then
        park(names[index + 1], priority, id, nowMs + delayMs)
        delayed[marks[i]] = true
      else
        new[newSize + 1], new[newSize + 2], new[newSize + 3] = index + 1, priority, id
        newSize = newSize + 3
      end
    elseif unfiltered == 0 and not taken[id] then
      unseen = unseen + 1
    end
  end
  if newSize > 0 then enqueueAll(new, newSize, names) end
  chunked('HSET', requests, fresh)
  recordMarks(recorded, delayed, isJudged(kind))
  if freshSize > 0 then setMeta('accepted', number('accepted') + freshSize / 2) end
  if accepted > 0 then
    setMeta('run_accepted', number('run_accepted') + accepted)
    addToCounter('scheduler/enqueued', accepted)
  end
  if dropped > 0 then addToCounter('scheduler/dropped', dropped) end
  return accepted, dropped, unseen
end

-- kind: links pass the dupefilter; seeds do not, unless filtered, and are recorded all the same. Links that find the
-- queue twice full are dropped: not recorded, so that they are new again when there is room.
-- Returns accepted, duplicates, dropped, and how many the dupefilter does not hold now: the dropped, and those that are
-- live but forgotten.
local function accept(text, at, size, kind) -- rarely: links
  if size == 0 then return 0, 0, 0, 0 end
  local idsAt, fingerprintsAt, numbersAt, namesAt, recordsAt = partsOfBatch(text, at, size)
  local marks = marksOf(text, idsAt, fingerprintsAt, size)
  local judged = isJudged(kind)
  local seen = judged and seenFlags(marks) or nil
  local asked, askedIds, n = {}, {}, 0
  for i = 1, size do
    if not seen or seen[i] == 0 or string.byte(text, numbersAt + i * NUMBERS - 15) == 1 then
      n = n + 1
      asked[n], askedIds[n] = i, sub(text, idsAt + i * 20 - 20, idsAt + i * 20 - 1)
    end
  end
  local accepted, dropped, unseen = 0, 0, 0
  if n > 0 then
    local names = namesOf(sub(text, namesAt, recordsAt - 1))
    accepted, dropped, unseen = acceptUnseen(asked, askedIds, marks, names, text, numbersAt, recordsAt, kind)
  end
  local duplicates = size - accepted - dropped
  if duplicates > 0 then addToCounter('dupefilter/filtered', duplicates) end
  return accepted, duplicates, dropped, unseen + dropped
end
