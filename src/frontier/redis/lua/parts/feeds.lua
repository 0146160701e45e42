-- Feed files and their checkpoints.

-- A new job begins its files anew; a feed whose items still wait to be written is kept, and so is its checkpoint.
local function forgetWrittenFeeds()
  for _, field in ipairs(call('HKEYS', feedsKey)) do
    if sub(field, -5) ~= ':tail' then
      local sequence = cjson.decode(call('HGET', feedsKey, field)).sequence or 0
      local tail = tonumber(call('HGET', feedsKey, field .. ':tail') or 0)
      if sequence >= tail then call('HDEL', feedsKey, field, field .. ':tail') end
    end
  end
end
