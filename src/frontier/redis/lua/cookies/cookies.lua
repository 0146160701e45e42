-- The cookies of a crawl: its sets (one for each jar and domain), their versions, and their limits.
--
--   cookies           HASH "jar NUL domain" → JSON [[path, name, text, expires at (0: never), set by], …], in the order of creation;
--                     "jar" → how many cookies all its sets have
--   cookie-versions   ZSET version of the last change → "jar NUL domain", also of sets that were removed
--   jars              ZSET version of the last change → jar
--   meta.cookies      the version given last; meta.cookies_floor: removals up to this version may be forgotten
--
-- A change, as it travels: { jar, domain, path, name, text: absent to remove it, forMs or untilMs: its expiry, setBy: the host
-- that sets it, absent unless that is a subdomain of the domain }.

local function nameOf(jar, domain) return jar .. '\0' .. domain end

local function jarOf(name) return string.sub(name, 1, string.find(name, '\0', 1, true) - 1) end

local function isCookie(value)
  return type(value) == 'table' and type(value[1]) == 'string' and type(value[2]) == 'string'
    and type(value[3]) == 'string' and type(value[4]) == 'number'
end

-- The cookies of a set. What somebody damaged by hand is left out: a page must be committed all the same.
function cookies.decode(text)
  local values = reader.json(text or '[]')
  local found = {}
  for _, value in ipairs(values or {}) do
    if isCookie(value) then found[#found + 1] = value end
  end
  return found
end

local function setOf(crawl, name)
  local set = crawl.cookieSets[name]
  if not set then
    local found = cookies.decode(redis.call('HGET', crawl.keys.cookies, name))
    set = { cookies = found, before = #found }
    crawl.cookieSets[name] = set
  end
  return set
end

-- The position of a cookie in a set.
local function positionOf(set, path, name)
  for i, cookie in ipairs(set.cookies) do
    if cookie[1] == path and cookie[2] == name then return i end
  end
end

local function expiryOf(crawl, change)
  if change.forMs then return crawl.wallMs + change.forMs end
  return change.untilMs or 0
end

local function merge(crawl, change)
  local set, expiresAt = setOf(crawl, nameOf(change.jar, change.domain)), expiryOf(crawl, change)
  local at, isRemoval = positionOf(set, change.path, change.name), not change.text or (expiresAt > 0 and expiresAt <= crawl.wallMs)
  if isRemoval then
    if not at then return end
    table.remove(set.cookies, at)
  elseif at then
    local cookie = set.cookies[at]
    if cookie[3] == change.text and cookie[4] == expiresAt then return end
    cookie[3], cookie[4], cookie[5] = change.text, expiresAt, change.setBy
  else
    set.cookies[#set.cookies + 1] = { change.path, change.name, change.text, expiresAt, change.setBy }
  end
  set.isChanged = true
end

-- Merges the cookies of a settle into their sets, in memory.
function cookies.merge(crawl, settle)
  if not settle.cookies or settle.kind == 'released' then return end
  crawl.cookieSets, crawl.maxJars = crawl.cookieSets or {}, settle.maxJars
  for _, change in ipairs(settle.cookies) do merge(crawl, change) end
end

local function nextVersion(crawl)
  meta.add(crawl, 'cookies', 1)
  return lists.digits(meta.number(crawl, 'cookies'))
end

local function setterOf(cookie) return type(cookie[5]) == 'string' and cookie[5] or '' end

-- Leaves out what has expired, and what is beyond the limit of a domain: each time the oldest cookie of the host that has set
-- the most, so that one subdomain cannot push out the cookies of another. Returns how many were beyond it.
local function trim(crawl, set)
  local left, counts = {}, {}
  for _, cookie in ipairs(set.cookies) do
    if cookie[4] == 0 or cookie[4] > crawl.wallMs then
      left[#left + 1] = cookie
      counts[setterOf(cookie)] = (counts[setterOf(cookie)] or 0) + 1
    end
  end
  local beyond = math.max(0, #left - limits.MAX_COOKIES_PER_DOMAIN)
  for _ = 1, beyond do
    local at = 1
    for i, cookie in ipairs(left) do
      if counts[setterOf(cookie)] > counts[setterOf(left[at])] then at = i end
    end
    counts[setterOf(left[at])] = counts[setterOf(left[at])] - 1
    table.remove(left, at)
  end
  set.cookies = left
  return beyond
end

local function countOf(crawl, jar) return reader.number(redis.call('HGET', crawl.keys.cookies, jar)) or 0 end

local function setCount(crawl, jar, count)
  if count > 0 then
    redis.call('HSET', crawl.keys.cookies, jar, lists.digits(count))
  else
    redis.call('HDEL', crawl.keys.cookies, jar)
    redis.call('ZREM', crawl.keys.jars, jar)
  end
end

local function writeSet(crawl, name, set)
  local at, jar, version = crawl.keys, jarOf(name), nextVersion(crawl)
  if #set.cookies > 0 then
    redis.call('HSET', at.cookies, name, cjson.encode(set.cookies))
  else
    redis.call('HDEL', at.cookies, name)
  end
  redis.call('ZADD', at['cookie-versions'], version, name)
  redis.call('ZADD', at.jars, version, jar)
  setCount(crawl, jar, countOf(crawl, jar) + #set.cookies - set.before)
end

-- Removes sets of a jar, the one changed least recently first, until it has at most `most` cookies. Returns how many cookies
-- went with them. O(sets that were changed less recently).
local function shrink(crawl, jar, most)
  local at, prefix, count = crawl.keys, nameOf(jar, ''), countOf(crawl, jar)
  local before, start, victims = count, 0, {}
  while count > most do
    local page = redis.call('ZRANGE', at['cookie-versions'], start, start + 499)
    if #page == 0 then break end
    start = start + 500
    for _, name in ipairs(page) do
      local text = count > most and string.sub(name, 1, #prefix) == prefix and redis.call('HGET', at.cookies, name)
      if text then
        victims[#victims + 1] = name
        count = count - #cookies.decode(text)
      end
    end
  end
  lists.send('HDEL', at.cookies, victims)
  for _, name in ipairs(victims) do redis.call('ZADD', at['cookie-versions'], nextVersion(crawl), name) end
  if most == 0 then count = 0 end
  setCount(crawl, jar, count)
  return before - count
end

-- Forgets the oldest removals when there are too many.
local function forgetRemovals(crawl)
  local at = crawl.keys
  local sets = redis.call('HLEN', at.cookies) - redis.call('ZCARD', at.jars)
  local excess, start = redis.call('ZCARD', at['cookie-versions']) - sets - limits.MAX_REMOVED_COOKIES, 0
  if excess <= 0 then return end
  excess = excess + limits.MAX_REMOVED_COOKIES / 2
  local removed, floor = {}, 0
  while excess > #removed do
    local page, names = redis.call('ZRANGE', at['cookie-versions'], start, start + 499, 'WITHSCORES'), {}
    if #page == 0 then break end
    start = start + 500
    for i = 1, #page, 2 do names[#names + 1] = page[i] end
    for i, text in ipairs(lists.read('HMGET', at.cookies, names)) do
      if not text and #removed < excess then
        removed[#removed + 1] = names[i]
        floor = tonumber(page[2 * i])
      end
    end
  end
  lists.send('ZREM', at['cookie-versions'], removed)
  meta.set(crawl, 'cookies_floor', math.max(meta.number(crawl, 'cookies_floor'), floor))
end

-- Writes the sets that have changed, and drops what is beyond the limits.
function cookies.save(crawl)
  if not crawl.cookieSets then return end
  local changedJars, dropped = {}, 0
  for name, set in pairs(crawl.cookieSets) do
    if set.isChanged then
      dropped = dropped + trim(crawl, set)
      writeSet(crawl, name, set)
      changedJars[jarOf(name)] = true
    end
  end
  if next(changedJars) == nil then return end
  for jar in pairs(changedJars) do
    -- A tenth at once, as the search for the oldest sets takes time.
    if countOf(crawl, jar) > limits.MAX_COOKIES_PER_JAR then dropped = dropped + shrink(crawl, jar, limits.MAX_COOKIES_PER_JAR * 0.9) end
  end
  while redis.call('ZCARD', crawl.keys.jars) > (crawl.maxJars or math.huge) do
    dropped = dropped + shrink(crawl, redis.call('ZRANGE', crawl.keys.jars, 0, 0)[1], 0)
  end
  forgetRemovals(crawl)
  counters.add(crawl, 'cookies/dropped', dropped)
  crawl.cookieSets = nil
end

-- Adds cookies that the crawl does not have yet, in memory.
function cookies.add(crawl, changes)
  crawl.cookieSets = {}
  for _, change in ipairs(changes) do
    local set = setOf(crawl, nameOf(change.jar, change.domain))
    if not positionOf(set, change.path, change.name) then merge(crawl, change) end
  end
end

-- The sets that have changed since the version `known`; nil when none has. anewAt: for a client that reads all of them anew,
-- in several calls: the latest version when it began.
-- Returns JSON of version: that they lead to, latest: if it is higher there are more, isAnew: all known ones are to be
-- forgotten, nowMs, names, and texts: JSON of each, '' for a removed one.
function cookies.since(crawl, known, anewAt)
  local at, version = crawl.keys, meta.number(crawl, 'cookies')
  if known == version then return nil end
  local isAnew = known > version or (known > 0 and (anewAt or known) < meta.number(crawl, 'cookies_floor'))
  local from = isAnew and 0 or known
  local found = redis.call('ZRANGE', at['cookie-versions'], '(' .. lists.digits(from), '+inf', 'BYSCORE', 'LIMIT', 0,
    limits.MAX_COOKIE_SETS + 1, 'WITHSCORES')
  local names, texts, bytes, last = {}, {}, 0, version
  for i = 1, #found, 2 do names[#names + 1] = found[i] end
  for i, text in ipairs(lists.read('HMGET', at.cookies, names)) do
    text = text or ''
    bytes = bytes + #text
    if i > limits.MAX_COOKIE_SETS or (i > 1 and bytes > limits.MAX_COOKIE_CHARS) then
      last = tonumber(found[2 * i - 2])
      break
    end
    texts[i] = text
  end
  for n = #names, #texts + 1, -1 do names[n] = nil end
  return cjson.encode({ version = last, latest = version, isAnew = isAnew, nowMs = crawl.wallMs, names = names, texts = texts })
end
