-- How requests are taken out of the queue while their domains' records and chunks stay texts, as most do over many domains.
-- uses: taken

-- In place of its text: a domain that has given, and goes again before others that were read.
local AGAIN = 'again'

-- The first chunks, as texts, of domains that are about to give, `from` to `to`, and may stay packed.
local function loadTexts(names, texts, from, to)
  local fields, places, n = roomFor(to - from + 1), roomFor(to - from + 1), 0
  for i = from, to do
    local name = names[i]
    local packed = records[name]
    if packed and not domains[name] and texts[i] ~= AGAIN then
      local field = sub(packed, NUMBER_AT, TAIL_AT - 1)
      if not rewritten[field] then
        n = n + 1
        fields[n], places[n] = field, i
      end
    end
  end
  local found = fetched('HMGET', queueKey, fields)
  for k = 1, n do texts[places[k]] = found[k] end
end

-- Takes from the ready domains behind `met` without unpacking their records and chunks, up to `wanted` requests in all,
-- for as long as nothing was ever set of a domain's politeness and its chunk need not be followed by the next one. Many
-- in one go, as a call for each would cost 1,300 instructions. Returns how many domains are met then, and of the last one
-- its order where it goes again before others that were read.
local function takeFromTexts(inOrder, names, texts, priorities, arrivals, met, loadedTo, wanted, limit)
  local ids, members, takenFrom, n, m, last, before = ids, members, takenFrom, #ids, #newcomers, #inOrder, #ids
  local records, again, againPriority, againArrival = records, nil, nil, nil
  while met < loadedTo and met < last - 1 and n < wanted do
    local i = met + 1
    local name, text = names[i], texts[i]
    local packed = text and text ~= AGAIN and not domains[name] and records[name]
    if not packed or #packed > CORE_BYTES then break end
    local active, letter, priority, arrival, _, gone, _, _, bound = decode(CORE_IN_NUMBERS, packed)
    local size, most = #text / ENTRY, min(limit - active, wanted - n)
    local lastHere = bound == 0 and size or size - 1
    if letter ~= READY or arrival ~= arrivals[i] or priority ~= priorities[i] or most < 1 or gone >= lastHere then break end
    local member, order, from, rivalPriority, rivalArrival = inOrder[i], '', n, priorities[i + 1], arrivals[i + 1]
    repeat
      local at = gone * ENTRY
      n, gone = n + 1, gone + 1
      ids[n], members[n], takenFrom[n] = sub(text, at + (ORDER + 1), at + ENTRY), member, name
      if gone == size then
        order = ''
        break
      end
      order = sub(text, at + (ENTRY + 1), at + (ENTRY + ORDER))
      member, priority, arrival = order .. name, decode('>I5I7', order)
    until rivalPriority < priority or (rivalPriority == priority and rivalArrival < arrival) or n - from == most or gone == lastHere
    met, active = i, active + n - from
    if gone >= MOST_GONE or order == '' then
      rewritten[sub(packed, NUMBER_AT, TAIL_AT - 1)], gone = sub(text, gone * ENTRY + 1), 0
    end
    if order ~= '' and active < limit then
      records[name] = (fourBytes[active] or inFourBytes(active)) .. 'r' .. order .. nowInBytes .. char(gone) .. sub(packed, NUMBER_AT)
      newcomers[m + 1], newcomers[m + 2] = '0', member
      m = m + 2
      if priority < priorities[last] or (priority == priorities[last] and arrival < arrivals[last]) then
        again, againPriority, againArrival = order, priority, arrival
        break
      end
    else
      records[name] = inFourBytes(active) .. (order == '' and 'i' .. NO_ORDER or 'f' .. order) .. nowInBytes .. char(gone) .. sub(packed, NUMBER_AT)
    end
  end
  pendingChange = pendingChange - (n - before)
  return met, again, againPriority, againArrival
end
