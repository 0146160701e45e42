-- Requests that go behind the last one of their domain, as nearly all that arrive over many domains do: neither the domain nor
-- its chunk is unpacked, and most often the domain's record stays as it is.
-- uses: meta chunks domains

-- Of a domain's record: its number, its place, the bound of its last chunk, how many entries of its first one have gone.
local ENDS = '>c4c1xxxxxxxxxxxxxxxxc12xxxxxxI1'

-- Whether so many of one priority may go right behind the last entry. Not behind one from a clock ahead of ours.
local function fitBehind(text, gone, count, priority)
  local size = #text / ENTRY - gone
  return size > 0 and size + count <= CHUNK and sub(text, -ENTRY, -ENTRY + 4) == priority
    and struct.unpack('>I7', text, #text - ENTRY + 6) <= number('arrival')
end

-- Of domains by their names, of each how many requests are to come, and their priority (false: several). Returns, in their
-- order, of those where they can be appended the name of the last chunk and its text; of the others the domain, ready for
-- `enqueue`.
local function endsToAppendTo(names, counts, priorities)
  local fields, texts, ds, asked, owners, bounds, gones, others, n = {}, {}, {}, {}, {}, {}, {}, {}, 0
  local isNewestFirst, lastNumber = meta.queue == 'LifoQueue', number('domain_numbers')
  loadDomains(names)
  for i = 1, #names do
    local packed, isSimple = records[names[i]], priorities[i] and not domains[names[i]]
    if isSimple and packed and not isNewestFirst then
      local prefix, place, tail, gone = struct.unpack(ENDS, packed)
      local field = tail == NO_ORDER and prefix or prefix .. tail
      -- What comes a second time in a call is likely to come again.
      if (place == 'r' or place == 'f') and not appended[field] then
        n = n + 1
        asked[n], owners[n], bounds[n], gones[n] = field, i, tail == NO_ORDER and '' or tail, tail == NO_ORDER and gone or 0
        texts[i] = true
      end
    elseif isSimple and packed == false and counts[i] <= (isNewestFirst and 1 or CHUNK) then
      lastNumber = lastNumber + 1
      fields[i], texts[i] = struct.pack('>I4', lastNumber), ''
    end
  end
  if lastNumber > number('domain_numbers') then setMeta('domain_numbers', lastNumber) end
  local found = fetched('HMGET', queueKey, asked)
  for k = 1, n do
    local i, text = owners[k], found[k] or ''
    if fitBehind(text, gones[k], counts[i], priorities[i]) then
      fields[i], texts[i] = asked[k], text
    else
      keepChunk(domainOf(names[i]), asked[k], bounds[k], text)
      texts[i] = nil
    end
  end
  for i = 1, #names do
    if not texts[i] then
      ds[i] = domainOf(names[i])
      others[#others + 1] = ds[i]
    end
  end
  loadEnds(others)
  return fields, texts, ds
end

-- text: with the requests, `count` of them; a list of what it consists of, unless it is one.
local function append(name, field, text, count)
  if type(text) == 'table' then text = table.concat(text) end
  appended[field] = text
  pendingChange = pendingChange + count
  if records[name] then return end
  local head = sub(text, 1, ORDER)
  records[name] = struct.pack(CORE, field, 'r', 0, head, NO_ORDER, 0, 0)
  patched[name] = true
  newcomers[#newcomers + 1] = 0
  newcomers[#newcomers + 1] = head .. name
end
