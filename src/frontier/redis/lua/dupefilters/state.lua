-- StateDupeFilter: a HASH fingerprint (20 raw bytes) → the last thing that happened to its request.
-- An entry lives as long as the crawl, so it is packed into 11 bytes: state (a letter), instant in ms (6), HTTP status or
-- 0 (2), attempts (2).
local LETTERS = { pending = 'p', leased = 'l', delayed = 'd', done = 'x', failed = 'f' }
local LIFE = '>c1I6I2I2'

function state.pack(crawl, name, status, attempts)
  return struct.pack(LIFE, LETTERS[name], crawl.wallMs, status, attempts)
end

local function isFollowed(crawl)
  local agreed = dupefilters.agreed(crawl)
  return agreed and agreed.followsRequests
end

-- Notes what happened to requests. What has no entry gets none: it is dontFilter, or was forgotten.
-- statuses, attempts: of each; nil leaves them as they are.
function state.note(crawl, ids, name, statuses, attempts)
  if #ids == 0 or not isFollowed(crawl) then return end
  local entries, changed = lists.read('HMGET', crawl.keys.dupefilter, ids), {}
  for i, entry in ipairs(entries) do
    if entry then
      local _, _, status, tried = reader.unpack(LIFE, entry)
      lists.pair(changed, ids[i],
        state.pack(crawl, name, statuses and statuses[i] or status or 0, attempts and attempts[i] or tried or 0))
    end
  end
  lists.send('HSET', crawl.keys.dupefilter, changed)
end

-- What is known of a request: letter, instant, HTTP status or 0, attempts; nothing where it is not followed.
function state.read(crawl, id)
  local entry = isFollowed(crawl) and redis.call('HGET', crawl.keys.dupefilter, id)
  if entry then return reader.unpack(LIFE, entry) end
end

dupefilters.StateDupeFilter = {
  followsRequests = true,
  seen = function(crawl, marks)
    local flags = lists.read('HMGET', crawl.keys.dupefilter, marks)
    for i = 1, #marks do flags[i] = flags[i] and 1 or 0 end
    return flags
  end,
  record = function(crawl, marks, delayed)
    local entries = {}
    for _, mark in ipairs(marks) do
      lists.pair(entries, mark, state.pack(crawl, delayed[mark] and 'delayed' or 'pending', 0, 0))
    end
    return lists.send('HSET', crawl.keys.dupefilter, entries)
  end,
  forget = function(crawl, mark) return redis.call('HDEL', crawl.keys.dupefilter, mark) end,
  markOf = function(id) return id end,
  size = function(crawl) return redis.call('HLEN', crawl.keys.dupefilter) end,
  -- Another class has recorded no more than that the fingerprint was seen.
  restore = function(crawl, marks, _, lives)
    local finished, added = state.pack(crawl, 'done', 0, 0), 0
    for i, mark in ipairs(marks) do
      added = added + redis.call('HSETNX', crawl.keys.dupefilter, mark, lives and lives[i] or finished)
    end
    return added
  end,
}
