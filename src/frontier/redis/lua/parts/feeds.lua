-- Feed files and their checkpoints.

-- Whether none of its items waits to be written.
local function isAllWritten(feed, writer) return (writer.sequence or 0) >= tonumber(call('HGET', feedsKey, feed .. ':tail') or 0) end

-- A new job begins its files anew; a feed whose items still wait to be written is kept, and so is its checkpoint. A writer
-- that lives may be of a node that came too late for this crawl and begins the next: its feed goes on until it is given back.
-- At a flush it is of the node that flushes: the file that it overwrites is begun anew, unless it has written to it already.
local function forgetWrittenFeeds(isFlush)
  for _, field in ipairs(call('HKEYS', feedsKey)) do
    if sub(field, -5) ~= ':tail' then
      local writer = cjson.decode(call('HGET', feedsKey, field))
      if isAllWritten(field, writer) then
        if writer.owner and nowMs - writer.seenMs < (writer.staleMs or 0) then
          if isFlush and writer.overwrites == writer.sequence and not writer.exporting then
            writer.sequence, writer.lengthBytes, writer.header = nil, nil, nil
            call('HDEL', feedsKey, field .. ':tail')
          else
            writer.forgotten = true
          end
          call('HSET', feedsKey, field, cjson.encode(writer))
        else
          call('HDEL', feedsKey, field, field .. ':tail')
        end
      end
    end
  end
end
