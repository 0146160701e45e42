-- Seeds of a stream. Each crawl has a consumer group, named like its requests key, whose last delivered id is how far it has read.
-- Nodes read what follows without the group (peek_stream). The commit of a converted entry reads it by the group and acknowledges
-- it in the same step, so no entry is ever pending, and none of a dead node has to be claimed. Entries themselves are never changed.
local CONSUMER = 'crawlnode'

-- Entries counted where the server does not know how many follow.
local COUNTED = 100

-- A reply of XINFO by name.
local function byName(reply)
  local found = {}
  for i = 1, #reply, 2 do found[reply[i]] = reply[i + 1] end
  return found
end

-- The group of this crawl; nil before its first intake.
local function groupOf(crawl, key)
  for _, reply in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    local group = byName(reply)
    if group.name == crawl.keys.requests then return group end
  end
  return nil
end

local function lastRead(group) return group and group['last-delivered-id'] or '0-0' end

-- Whether an id is later than another. They are compared as text, since their parts may have 64 bits.
local function isAfter(id, other)
  local ms, n = string.match(id, '^(%d+)-(%d+)$')
  local otherMs, otherN = string.match(other, '^(%d+)-(%d+)$')
  if ms ~= otherMs then return #ms > #otherMs or (#ms == #otherMs and ms > otherMs) end
  return #n > #otherN or (#n == #otherN and n > otherN)
end

-- The entries after the last one read: up to `most`, oldest first.
function seedStream.peek(crawl, key, most)
  if redis.call('EXISTS', key) == 0 then return {} end
  return redis.call('XRANGE', key, '(' .. lastRead(groupOf(crawl, key)), '+', 'COUNT', lists.digits(most))
end

-- Entries that were trimmed before they were read: added and not read, while all that are left follow the last one read. It stays
-- unknown before the first intake, and where somebody deleted entries with XDEL that were not read.
local function trimmed(stream, group, last)
  local read, first = group and group['entries-read'], stream['first-entry']
  if not read or (first and not isAfter(first[1], last)) or isAfter(stream['max-deleted-entry-id'], last) then return 0 end
  return math.max(0, stream['entries-added'] - read - stream.length)
end

-- Counts entries that were trimmed as lost seeds, once.
local function noteTrimmed(crawl, key, stream, group)
  local count = trimmed(stream, group, lastRead(group))
  if count == 0 then return end
  local read = lists.digits(group['entries-read'] + count)
  redis.call('XGROUP', 'SETID', key, group.name, lastRead(group), 'ENTRIESREAD', read)
  meta.add(crawl, 'accepted', count)
  meta.add(crawl, 'lost', count)
  counters.add(crawl, 'scheduler/seeds_trimmed', count)
end

-- How many entries follow the last one read: 0 exactly when none does. Where entries were deleted with XDEL before they were read,
-- more than COUNTED count as COUNTED.
-- notesLosses: count what was trimmed; only for a verb that writes.
function seedStream.waiting(crawl, key, notesLosses)
  local stream, group = byName(redis.call('XINFO', 'STREAM', key)), groupOf(crawl, key)
  if notesLosses then noteTrimmed(crawl, key, stream, group) end
  local first, newest, last = stream['first-entry'], stream['last-entry'], lastRead(group)
  if not newest or not isAfter(newest[1], last) then return 0 end
  if isAfter(first[1], last) then return stream.length end
  local read = group['entries-read']
  if not read then return #seedStream.peek(crawl, key, COUNTED) end
  return math.max(1, math.min(stream.length, stream['entries-added'] - read))
end

-- Reads and acknowledges the entry that follows the last one read, if it has this id. Another node may have taken it.
function seedStream.take(crawl, key, id)
  local following = seedStream.peek(crawl, key, 1)[1]
  if not following or following[1] ~= id then return false end
  local group = crawl.keys.requests
  if not groupOf(crawl, key) then
    local stream = byName(redis.call('XINFO', 'STREAM', key))
    redis.call('XGROUP', 'CREATE', key, group, '0', 'ENTRIESREAD', lists.digits(stream['entries-added'] - stream.length))
  end
  redis.call('XREADGROUP', 'GROUP', group, CONSUMER, 'COUNT', '1', 'STREAMS', key, '>')
  return redis.call('XACK', key, group, id) == 1
end

-- Where the key is a stream: forget how far it was read. Its entries stay, since other readers may need them.
function seedStream.forget(crawl, key)
  if redis.call('TYPE', key).ok ~= 'stream' then return false end
  redis.call('XGROUP', 'DESTROY', key, crawl.keys.requests)
  return true
end
