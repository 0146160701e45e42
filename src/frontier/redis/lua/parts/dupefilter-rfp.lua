-- RFPDupeFilter: a SET of 40 hex digits each, the very one of Scrapy-Redis 0.8 and later.
-- uses: agreement

local DUPEFILTER_TYPE = 'set'

local function marksOf(text, _, fingerprintsAt, count)
  local marks = {}
  for i = 1, count do marks[i] = sub(text, fingerprintsAt + i * 40 - 40, fingerprintsAt + i * 40 - 1) end
  return marks
end

local function seenFlags(marks) return fetched('SMISMEMBER', dupefilter, marks) end

local function recordMarks(marks) chunked('SADD', dupefilter, marks) end

local function forgetMark(mark) return call('SREM', dupefilter, mark) end

local function seenCount() return call('SCARD', dupefilter) end
