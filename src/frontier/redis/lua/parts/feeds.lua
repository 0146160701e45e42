-- Feed files and their checkpoints.

-- Whether none of its items waits to be written.
local function isAllWritten(feed, writer)
  return (writer.sequence or 0) >= tonumber(call('HGET', feedsKey, feed .. ':tail') or 0)
end

-- Whether its crawl was forgotten, and nothing has come since.
local function isForgotten(feed, writer)
  return isAllWritten(feed, writer) and writer.forgottenAt == (writer.sequence or 0)
end

-- A new job begins its files anew: a feed is forgotten with its crawl, at once where nobody writes it and nothing
-- waits, else when it is given back with all that waited written, and no more. More is of the next crawl, where its
-- writer is of a node that came too late for this one: then it goes on. At a flush the writer is of the node that
-- flushes: the file that it overwrites is begun anew, unless it has written to it already.
local function forgetFeeds(isFlush)
  for _, field in ipairs(call('HKEYS', feedsKey)) do
    if sub(field, -5) ~= ':tail' then
      local writer = cjson.decode(call('HGET', feedsKey, field))
      local lives = writer.owner and nowMs - writer.seenMs < (writer.staleMs or 0)
      local allWritten = isAllWritten(field, writer)
      if allWritten and not lives then
        call('HDEL', feedsKey, field, field .. ':tail')
      else
        if isFlush and lives and allWritten and writer.overwrites == writer.sequence and not writer.exporting then
          writer.sequence, writer.lengthBytes, writer.header = nil, nil, nil
          call('HDEL', feedsKey, field .. ':tail')
        else
          writer.forgottenAt = tonumber(call('HGET', feedsKey, field .. ':tail') or 0)
        end
        call('HSET', feedsKey, field, cjson.encode(writer))
      end
    end
  end
end
