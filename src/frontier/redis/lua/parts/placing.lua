-- The one place that a domain stands in, and what a verb writes at its end.
-- uses: meta chunks counters domains

-- A domain has been moved or placed, and savePlaces has not told the store.
local isUnplaced = false

-- Its head or its leases have changed: savePlaces finds its place once all has happened.
local function move(d) -- rarely: unpacked
  d[MOVED], isUnplaced = true, true
end

-- Puts a domain where it belongs; savePlaces tells the store.
local function placeDomain(d)
  d[TOUCHED], d[MOVED], d[KEY], isUnplaced = true, false, '', true
  local at, head = dueAt(d), d[HEAD]
  if head ~= '' and d[ACTIVE] >= number('limit', 8) then
    d[PLACE] = 'f'
  elseif at > nowMs then
    d[PLACE], d[WAITS_UNTIL] = 'w', at
  elseif head ~= '' then
    d[PLACE], d[KEY] = 'r', head
  else
    d[PLACE] = 'i'
  end
end

local function releaseUnpacked(d) -- rarely: unpacked
  d[ACTIVE] = max(0, d[ACTIVE] - 1)
  move(d)
end

-- Of each one lease has ended. One that is ready stays so, whatever its other leases: of its record a number changes,
-- and as most have equally many leases, what the record begins with is made once.
local function releaseAll(names)
  local beginnings = {}
  for i = 1, #names do
    local name = names[i]
    local packed = not domains[name] and records[name]
    local beginning = packed and sub(packed, 1, PLACE_AT)
    local after = beginning and beginnings[beginning]
    if packed and not after then
      local active, letter = decode('>I4I1', packed)
      after = letter == READY and inFourBytes(active > 0 and active - 1 or 0) .. 'r'
      beginnings[beginning] = after
    end
    if after then records[name] = after .. sub(packed, PLACE_AT + 1) else releaseUnpacked(domainOf(name)) end
  end
end

-- Of the domains that are unpacked.
local function saveUnplaced() -- rarely: unpacked
  local readyOut, readyIn, waitingOut, waitingIn, out, n = {}, {}, {}, {}, 0, 0
  for i = 1, #unpackedDomains do
    local d = unpackedDomains[i]
    if d[MOVED] then placeDomain(d) end
    local key, storedKey, name = d[KEY], d[STORED_KEY], d[DOMAIN_NAME]
    if key ~= storedKey then
      if storedKey ~= '' then
        out = out + 1
        readyOut[out] = storedKey .. name
      end
      if key ~= '' then
        readyIn[n + 1], readyIn[n + 2] = '0', key .. name
        n = n + 2
      end
      d[STORED_KEY] = key
    end
    local waits = d[PLACE] == 'w'
    if waits and d[WAITS_UNTIL] then
      waitingIn[#waitingIn + 1] = d[WAITS_UNTIL]
      waitingIn[#waitingIn + 1] = name
    elseif not waits and d[STORED_WAITS] then
      waitingOut[#waitingOut + 1] = name
    end
    d[STORED_WAITS], d[WAITS_UNTIL] = waits, nil
  end
  isUnplaced = false
  chunked('ZREM', readyKey, readyOut)
  chunked('ZADD', readyKey, readyIn)
  chunked('ZREM', waitingKey, waitingOut)
  chunked('ZADD', waitingKey, waitingIn)
end

-- Places what changed, and writes who is ready and who waits.
local function savePlaces()
  if #newcomers > 0 then
    chunked('ZADD', readyKey, newcomers)
    newcomers = {}
  end
  if isUnplaced then saveUnplaced() end
end

-- Nothing waits for it and nothing is to be remembered. With a delay of its own forgetting it would forget the
-- politeness.
local function isGone(d) return d[PLACE] == 'i' and d[ACTIVE] == 0 and not (hasPoliteness(d) and hasOwnDelay(politenessOf(d))) end

-- The records of domains that are unpacked, behind those to be set, `n` values, if any. Returns all of them.
local function packUnpacked(pairsToSet, n) -- rarely: unpacked
  if n == 0 then pairsToSet = {} end
  local toDelete = {}
  -- What was changed before it was unpacked.
  for i = 1, #loaded do
    local d = domains[loaded[i]]
    if d and records[loaded[i]] ~= originals[i] then d[TOUCHED] = true end
  end
  for i = 1, #unpackedDomains do
    local d = unpackedDomains[i]
    if d[TOUCHED] then
      if isGone(d) then
        toDelete[#toDelete + 1] = d[DOMAIN_NAME]
      else
        pairsToSet[n + 1], pairsToSet[n + 2] = d[DOMAIN_NAME], packDomain(d)
        n = n + 2
      end
    end
  end
  chunked('HDEL', domainsKey, toDelete)
  return pairsToSet
end

-- Writes what the script changed, meta included; every verb that may change a domain ends with it. Chunks go before
-- their domains, which say what has gone of them.
local function flush()
  savePlaces()
  saveChunks()
  if next(counters) then saveCounters() end
  local pairsToSet, n, loaded, originals, records = NONE, 0, loaded, originals, records
  for i = 1, #loaded do
    local name = loaded[i]
    local packed = records[name]
    if packed ~= originals[i] and not domains[name] then
      if n == 0 then pairsToSet = roomFor(2 * (#loaded - i + 1)) end
      pairsToSet[n + 1], pairsToSet[n + 2] = name, packed
      n = n + 2
    end
  end
  if #unpackedDomains > 0 then pairsToSet = packUnpacked(pairsToSet, n) end
  chunked('HSET', domainsKey, pairsToSet)
  saveMeta()
end
