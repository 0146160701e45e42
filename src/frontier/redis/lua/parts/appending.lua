-- Requests that go behind the last one of their domain, as nearly all that arrive over many domains do: neither the
-- domain nor its chunk is unpacked, and most often the domain's record stays as it is.
-- uses: meta chunks placing

-- Whether one of this priority goes right behind the last entry. Not behind one from a clock ahead of ours.
local function isBehind(text, priority)
  return sub(text, -ENTRY, -ENTRY + 4) == priority and decode('>I7', text, #text - ENTRY + 6) <= number('arrival')
end

-- Of domains by their names, of each how many requests are to come, and their priority (false: several). Returns, in
-- their order, of those where they can be appended the name of the last chunk (false: they begin one, behind a full
-- one) and what they go behind; of the others the domain, ready for `enqueue`.
local function endsToAppendTo(names, counts, priorities)
  local fields, texts, ds, asked, owners, bounds, gones, n = {}, {}, {}, {}, {}, {}, {}, 0
  local isNewestFirst, lastNumber = meta.queue == 'LifoQueue', number('domain_numbers')
  loadDomains(names, true)
  for i = 1, #names do
    local name = names[i]
    local packed = priorities[i] and not domains[name] and records[name]
    if packed then
      local letter, tail = string.byte(packed, PLACE_AT), sub(packed, TAIL_AT, CORE_BYTES)
      local isFirst = tail == NO_ORDER
      local field = sub(packed, NUMBER_AT, isFirst and TAIL_AT - 1 or CORE_BYTES)
      -- What comes a second time in a call is likely to come again.
      if (letter == READY or letter == FULL) and not isNewestFirst and not rewritten[field] then
        n = n + 1
        asked[n], owners[n] = field, i
        bounds[n], gones[n] = isFirst and '' or tail, isFirst and string.byte(packed, GONE_AT) or 0
        texts[i] = ''
      end
    elseif packed == false and priorities[i] and not domains[name] and counts[i] <= (isNewestFirst and 1 or CHUNK) then
      lastNumber = lastNumber + 1
      fields[i], texts[i] = encode('>I4', lastNumber), ''
    end
  end
  if lastNumber > number('domain_numbers') then setMeta('domain_numbers', lastNumber) end
  local found = fetched('HMGET', queueKey, asked)
  for k = 1, n do
    local i, text = owners[k], found[k] or ''
    local size = #text / ENTRY - gones[k]
    if size > 0 and size + counts[i] <= CHUNK and isBehind(text, priorities[i]) then
      fields[i], texts[i] = asked[k], text
    elseif size >= CHUNK and counts[i] <= CHUNK and isBehind(text, priorities[i]) then
      fields[i] = false
    else
      keepChunk(domainOf(names[i]), asked[k], bounds[k], text)
      texts[i] = nil
    end
  end
  local others = {}
  for i = 1, #names do
    if not texts[i] then
      ds[i] = domainOf(names[i])
      others[#others + 1] = ds[i]
    end
  end
  if #others > 0 then loadEnds(others) end
  return fields, texts, ds
end

local function appendAll(names, fields, texts, counts)
  local followers, n, added = {}, 0, 0
  for i = 1, #names do
    local text, field, name = texts[i], fields[i], names[i]
    if text then
      local packed = records[name]
      if type(text) == 'table' then text = table.concat(text) end
      if not packed then
        local head = sub(text, 1, ORDER)
        records[name] = inFourBytes(0) .. 'r' .. head .. NEVER .. '\0' .. field .. NO_ORDER
        newcomers[#newcomers + 1] = '0'
        newcomers[#newcomers + 1] = head .. name
      elseif not field then
        local bound = sub(text, 1, ORDER)
        records[name] = sub(packed, 1, TAIL_AT - 1) .. bound .. sub(packed, CORE_BYTES + 1)
        field = sub(packed, NUMBER_AT, TAIL_AT - 1) .. bound
        followers[n + 1], followers[n + 2] = '0', field
        n = n + 2
      end
      rewritten[field] = text
      added = added + counts[i]
    end
  end
  chunked('ZADD', chunksKey, followers)
  pendingChange = pendingChange + added
end
