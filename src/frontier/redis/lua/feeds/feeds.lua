-- Feed files, and the items that wait to be written to them.
--
-- HASH `feeds`: feed → JSON { host, path, pid, owner, format, seenMs, staleMs, exporting, overwrites, forgottenAt, and its
-- checkpoint: sequence, lengthBytes, header, end }, without an owner when it has no writer, with seenMs 0 once its crawl is finished too; feed:tail → number of its last item.
-- Of a file that is not as the crawl has left it, changed: { what, items, accepted }, see feed-changed.lua.
-- HASH `outbox`: feed:number → item, of those behind the checkpoint.
-- A feed whose name begins with "pipeline-" is the outbox of an item pipeline. Its items are { id, item }.

local numbers = { 'seenMs', 'staleMs', 'sequence', 'lengthBytes', 'forgottenAt', 'overwrites' }
local texts = { 'host', 'path', 'owner', 'format', 'header', 'end' }

-- Whether a value can be what feeds.write has written.
local function isRecord(value)
  for _, name in ipairs(numbers) do
    if value[name] ~= nil and type(value[name]) ~= 'number' then return false end
  end
  for _, name in ipairs(texts) do
    if value[name] ~= nil and type(value[name]) ~= 'string' then return false end
  end
  local changed = value.changed
  if changed ~= nil and not (type(changed) == 'table' and type(changed.what) == 'string' and reader.number(changed.items)) then return false end
  return value.seenMs ~= nil and (value.sequence == nil or reader.number(value.sequence) ~= nil)
end

-- The record of a feed; nil where there is none, or somebody else has damaged it.
function feeds.read(crawl, feed)
  local text = redis.call('HGET', crawl.keys.feeds, feed)
  if not text then return end
  local record = reader.json(text)
  if record and isRecord(record) then return record end
end

function feeds.write(crawl, feed, writer) redis.call('HSET', crawl.keys.feeds, feed, cjson.encode(writer)) end

-- meta knows of each feed with a checkpoint, so that it is noticed when its record vanishes.
function feeds.mark(feed) return 'feed:' .. feed end

-- Whether the record of a feed is gone, or somebody else has damaged it.
function feeds.hasLost(crawl, feed, writer)
  return not writer and redis.call('HEXISTS', crawl.keys.meta, feeds.mark(feed)) == 1
end

function feeds.drop(crawl, feed)
  redis.call('HDEL', crawl.keys.feeds, feed, feed .. ':tail')
  meta.drop(crawl, feeds.mark(feed))
end

function feeds.field(feed, number) return feed .. ':' .. lists.digits(number) end

-- Counts the items of a feed anew where somebody deleted or overwrote the number of its last one, so that no item gets the
-- number of another. O(outbox) then.
function feeds.mendTail(crawl, feed)
  local at, tail = crawl.keys, feed .. ':tail'
  if string.find(redis.call('HGET', at.feeds, tail) or '', '^%d+$') then return end
  local last = (feeds.read(crawl, feed) or {}).sequence or 0
  for _, field in ipairs(redis.call('HKEYS', at.outbox)) do
    local number = string.sub(field, 1, #feed + 1) == feed .. ':' and tonumber(string.sub(field, #feed + 2))
    last = math.max(last, number or 0)
  end
  if last > 0 then redis.call('HSET', at.feeds, tail, lists.digits(last)) else redis.call('HDEL', at.feeds, tail) end
end

-- Items go to the end of the outbox of each feed.
function feeds.append(crawl, names, items)
  if #items == 0 then return end
  for _, feed in ipairs(names) do
    feeds.mendTail(crawl, feed)
    local before, fields = redis.call('HINCRBY', crawl.keys.feeds, feed .. ':tail', #items) - #items, {}
    for i, item in ipairs(items) do
      fields[2 * i - 1] = feeds.field(feed, before + i)
      fields[2 * i] = item
    end
    lists.send('HSET', crawl.keys.outbox, fields)
  end
end

function feeds.isPipeline(feed) return string.sub(feed, 1, 9) == 'pipeline-' end

-- The names of the feeds that are files, and of those that are pipelines.
function feeds.byKind(names)
  local files, pipelines = {}, {}
  for _, feed in ipairs(names) do
    local kind = feeds.isPipeline(feed) and pipelines or files
    kind[#kind + 1] = feed
  end
  return files, pipelines
end

-- An item of a settle as a pipeline gets it. The id is that of the request in hex and the item's number in the page, unless
-- the settle gives it another.
function feeds.withId(settle, number, item)
  local id = settle.itemIds and settle.itemIds[number]
  return '{"id":"' .. (id or lists.hex(settle.id) .. '-' .. number) .. '","item":' .. item .. '}'
end

-- The number of its last item.
function feeds.tail(crawl, feed) return reader.number(redis.call('HGET', crawl.keys.feeds, feed .. ':tail')) or 0 end

-- Whether none of its items waits to be written.
function feeds.isAllWritten(crawl, feed, writer) return (writer.sequence or 0) >= feeds.tail(crawl, feed) end

-- Whether no item waits in any of these feeds.
function feeds.areAllWritten(crawl, names)
  for _, feed in ipairs(names or {}) do
    if not feeds.isAllWritten(crawl, feed, feeds.read(crawl, feed) or {}) then return false end
  end
  return true
end

-- Whether a reset marked the feed, all items were written and none were added since. A loss is not forgotten.
function feeds.isForgotten(crawl, feed, writer)
  return not writer.changed and feeds.isAllWritten(crawl, feed, writer) and writer.forgottenAt == (writer.sequence or 0)
end

-- The records of all feeds, by name; false for one that cannot be read.
local function records(crawl)
  local found = {}
  for _, feed in ipairs(redis.call('HKEYS', crawl.keys.feeds)) do
    if string.sub(feed, -5) ~= ':tail' then found[feed] = feeds.read(crawl, feed) or false end
  end
  return found
end

local function lives(crawl, writer) return writer.owner and crawl.nowMs - writer.seenMs < (writer.staleMs or 0) end

-- Somebody goes on without what files have lost: where items wait for one, its writer goes on with what is left of it, else its record goes.
function feeds.acceptChanges(crawl)
  for feed, writer in pairs(records(crawl)) do
    if writer and writer.changed then
      writer.changed.accepted = true
      if feeds.isAllWritten(crawl, feed, writer) and not lives(crawl, writer) then feeds.drop(crawl, feed)
      else feeds.write(crawl, feed, writer) end
    end
  end
end

-- A new job starts new feed files. A reset deletes a feed that has no writer and no waiting items. Otherwise it only marks
-- the feed (forgottenAt). The feed is deleted when its writer releases it, if all items were written and none were added.
-- Items added later belong to the next crawl, so such a feed stays. At a flush the writer belongs to the flushing node: if
-- it opened the file to overwrite it and has written nothing since, the feed starts again from its first item. Losses that
-- nobody has accepted stay.
function feeds.forget(crawl, isFlush)
  for feed, writer in pairs(records(crawl)) do
    local allWritten = writer and feeds.isAllWritten(crawl, feed, writer)
    if not writer or (allWritten and not lives(crawl, writer) and not writer.changed) then
      feeds.drop(crawl, feed)
    else
      if isFlush and lives(crawl, writer) and allWritten and writer.overwrites == writer.sequence and not writer.exporting then
        writer.sequence, writer.lengthBytes, writer.header, writer['end'] = nil, nil, nil, nil
        redis.call('HDEL', crawl.keys.feeds, feed .. ':tail')
      else
        writer.forgottenAt = feeds.tail(crawl, feed)
      end
      feeds.write(crawl, feed, writer)
    end
  end
end
