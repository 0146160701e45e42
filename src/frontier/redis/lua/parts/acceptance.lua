-- What push, settle and intake have in common: a batch of requests is judged and stored.
-- uses: meta guards queue limits dupefilter

-- A batch is ARGV[at] ids (20 bytes each) · ARGV[at+1] fingerprints (40 hex each) · ARGV[at+2] 14 bytes each: 5 of
-- priority, 2 domain index, 1 unfiltered, 6 delay in ms · ARGV[at+3] domain names, each followed by a NUL ·
-- records from ARGV[recordsAt] on.

local ACCEPT_FIELDS = { 'queue', 'arrival', 'domain_numbers', 'limit', 'accepted', 'run_accepted', 'queue_limit', 'dupefilter' }

-- An error half-way would leave a half-written verb, so what may fail is asked first; meta has been read.
local function refuseForeign()
  local other = otherDupefilter()
  if other then return other end
  if not (isOf(DUPEFILTER_TYPE, dupefilter) and isOf('list', itemsKey) and isOf('hash', statsKey)) then
    return 'WRONGTYPE the dupefilter, items or stats key of this crawl holds another type'
  end
  agreeOnDupefilter()
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

-- kind: links pass the dupefilter; seeds do not, unless filtered, and are recorded all the same. Links that find the
-- queue twice full are dropped: not recorded, so that they are new again when there is room.
-- Returns accepted, duplicates, dropped, and how many the dupefilter does not hold now: the dropped, and those that are
-- live but forgotten.
local function accept(at, recordsAt, size, kind)
  if size == 0 then return 0, 0, 0, 0 end
  local ids, numbers = ARGV[at], ARGV[at + 2]
  local marks = marksOf(ids, ARGV[at + 1], size)
  local names = {}
  for name in string.gmatch(ARGV[at + 3], '([^%z]*)%z') do names[#names + 1] = name end
  local judged = kind == 'links' or kind == 'seeds-filtered'
  local seen = judged and seenFlags(marks) or nil
  local records, recorded, delayed, taken = {}, {}, {}, {}
  local accepted, fresh, dropped, unseen = 0, 0, 0, 0
  local room = kind == 'links' and roomForLinks() or math.huge
  -- Beyond FAILED_LIMIT a failed request has no record any more, and is live all the same.
  local anyFailed = call('ZCARD', failedKey) > 0
  for i = 1, size do
    local unfiltered = string.byte(numbers, i * 14 - 6) == 1
    if unfiltered or not judged or seen[i] == 0 then
      local id = sub(ids, i * 20 - 19, i * 20)
      local record = ARGV[recordsAt + i - 1]
      local live = taken[id] or call('HEXISTS', requests, id) == 1 or (anyFailed and call('ZSCORE', failedKey, id))
      local revived = live and not taken[id] and kind ~= 'links' and revive(id, record)
      if not live and accepted >= room then
        dropped = dropped + 1
      elseif revived or not live then
        taken[id] = true
        accepted = accepted + 1
        if not revived then
          fresh = fresh + 1
          records[#records + 1] = id
          records[#records + 1] = record
        end
        if not unfiltered then recorded[#recorded + 1] = marks[i] end
        local priority = sub(numbers, i * 14 - 13, i * 14 - 9)
        local index, _, delayMs = struct.unpack('>I2I1I6', numbers, i * 14 - 8)
        if delayMs > 0 then
          park(names[index + 1], priority, id, nowMs + delayMs)
          delayed[marks[i]] = true
        else
          enqueue(names[index + 1], orderOf(priority, takeArrival()), id)
        end
      elseif not unfiltered and not taken[id] then
        unseen = unseen + 1
      end
    end
  end
  chunked('HSET', requests, records)
  recordMarks(recorded, delayed)
  if fresh > 0 then setMeta('accepted', number('accepted') + fresh) end
  if accepted > 0 then
    setMeta('run_accepted', number('run_accepted') + accepted)
    addToCounter('scheduler/enqueued', accepted)
  end
  local duplicates = size - accepted - dropped
  if duplicates > 0 then addToCounter('dupefilter/filtered', duplicates) end
  if dropped > 0 then addToCounter('scheduler/dropped', dropped) end
  return accepted, duplicates, dropped, unseen + dropped
end
