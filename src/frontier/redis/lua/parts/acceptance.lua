-- What push, settle and intake have in common: a batch of requests is judged and stored.
-- uses: meta guards queue limits dupefilter

-- A batch is ARGV[at] ids (20 bytes each) · ARGV[at+1] fingerprints (40 hex each) · ARGV[at+2] 22 bytes each: 5 of
-- priority, 2 domain index, 1 unfiltered, 6 delay in ms, 4 where the record begins, 4 its length · ARGV[at+3] domain
-- names, each followed by a NUL · ARGV[at+4] records, one after the other: an argument of its own for each would cost
-- Redis 0.4 µs, also for those that nobody looks at.
local BATCH, NUMBERS = 5, 22

local function numbersOf(numbers, i)
  local priority, index, unfiltered, delayMs, from, length = struct.unpack('>c5I2I1I6I4I4', numbers, i * NUMBERS - NUMBERS + 1)
  return priority, index + 1, unfiltered == 1, delayMs, from + 1, from + length
end

local function namesOf(text)
  local names = {}
  for name in string.gmatch(text, '([^%z]*)%z') do names[#names + 1] = name end
  return names
end

-- Requests that end in this script, and are removed with it: no longer live.
local ended = {}

local ACCEPT_FIELDS = { 'queue', 'arrival', 'domain_numbers', 'limit', 'accepted', 'run_accepted', 'queue_limit', 'dupefilter' }

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

-- Stores and orders those of the asked that have no live record.
local function acceptUnseen(asked, ids, marks, numbers, names, records, kind)
  local stored, taken = fetched('HMGET', requests, ids), {}
  local new, fresh, recorded, delayed = {}, {}, {}, {}
  local newSize, freshSize, accepted, dropped, unseen = 0, 0, 0, 0, 0
  local room = kind == 'links' and roomForLinks() or math.huge
  -- Beyond FAILED_LIMIT a failed request has no record any more, and is live all the same.
  local anyFailed = call('ZCARD', failedKey) > 0
  for n, i in ipairs(asked) do
    local id = ids[n]
    local priority, index, unfiltered, delayMs, from, to = numbersOf(numbers, i)
    local live = taken[id] or (stored[n] and not ended[id]) or (anyFailed and call('ZSCORE', failedKey, id))
    local revived = live and not taken[id] and kind ~= 'links' and revive(id, sub(records, from, to))
    if not live and accepted >= room then
      dropped = dropped + 1
    elseif revived or not live then
      taken[id], ended[id] = true, nil
      accepted = accepted + 1
      if not revived then
        fresh[freshSize + 1], fresh[freshSize + 2] = id, sub(records, from, to)
        freshSize = freshSize + 2
      end
      if not unfiltered then recorded[#recorded + 1] = marks[i] end
      if delayMs > 0 then
        park(names[index], priority, id, nowMs + delayMs)
        delayed[marks[i]] = true
      else
        new[newSize + 1], new[newSize + 2], new[newSize + 3] = names[index], priority, id
        newSize = newSize + 3
      end
    elseif not unfiltered and not taken[id] then
      unseen = unseen + 1
    end
  end
  enqueueAll(new, newSize)
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
local function accept(at, size, kind)
  if size == 0 then return 0, 0, 0, 0 end
  local ids, numbers, records = ARGV[at], ARGV[at + 2], ARGV[at + 4]
  local marks = marksOf(ids, ARGV[at + 1], size)
  local judged = isJudged(kind)
  local seen = judged and seenFlags(marks) or nil
  local asked, askedIds = {}, {}
  for i = 1, size do
    if not seen or seen[i] == 0 or string.byte(numbers, i * NUMBERS - 14) == 1 then
      asked[#asked + 1] = i
      askedIds[#askedIds + 1] = sub(ids, i * 20 - 19, i * 20)
    end
  end
  local accepted, dropped, unseen = 0, 0, 0
  if #asked > 0 then accepted, dropped, unseen = acceptUnseen(asked, askedIds, marks, numbers, namesOf(ARGV[at + 3]), records, kind) end
  local duplicates = size - accepted - dropped
  if duplicates > 0 then addToCounter('dupefilter/filtered', duplicates) end
  return accepted, duplicates, dropped, unseen + dropped
end
