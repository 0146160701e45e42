-- Leases: packed, ended, given back, failed, found by their node.
-- uses: nodes placing queue life

-- Incarnation behind its length, leased at ms, number of the call that gave it, crashes; then order and domain. So
-- leases of one call begin alike, and that is packed once, and read once. LEASE_BYTES: of this, the incarnation aside. A
-- token is the number of that call, since it gives a request once.
local LEASE, LEASE_BYTES = '>I2c0I6I6I4', 18
-- A lease is a list, as a domain is.
local GIVEN_BY, OWNER, LEASE_ORDER, LEASED_AT, CRASHES, LEASE_DOMAIN = 1, 2, 3, 4, 5, 6

local function unpackLease(packed) -- rarely: seldom
  local incarnation, atMs, givenBy, crashes, at = decode(LEASE, packed)
  return { givenBy, incarnation, sub(packed, at, at + ORDER - 1), atMs, crashes, sub(packed, at + ORDER) }
end

-- released: how many of them another node has held.
local freed, freedFrom, released = {}, {}, {}

-- Ends a lease's hold on its node and its domain; what becomes of the request is the verb's business.
local function freeLease(id, owner, domain)
  local n = #freed + 1
  freed[n], freedFrom[n] = id, domain
  if owner ~= incarnation then released[owner] = (released[owner] or 0) + 1 end
end

-- The same of many that are this node's.
local function freeOwn(ids, from)
  if #freed == 0 then
    freed, freedFrom = ids, from
  else
    for i = 1, #ids do freeLease(ids[i], incarnation, from[i]) end
  end
end

-- Writes which leases have ended; to be called before anybody counts them.
local function saveLeases()
  local own = #freed
  chunked('HDEL', leasesKey, freed)
  for owner, n in pairs(released) do
    own = own - n
    call('HINCRBY', heldKey, owner, inDigits(-n))
  end
  if own > 0 then call('HINCRBY', heldKey, incarnation, inDigits(-own)) end
  loadDomains(freedFrom)
  releaseAll(freedFrom)
  freed, freedFrom, released = {}, {}, {}
end

-- A lease goes back to pending as it was, uncounted: its arrival stays.
local function giveBack(id, lease) -- rarely: seldom
  freeLease(id, lease[OWNER], lease[LEASE_DOMAIN])
  requeue(lease[LEASE_DOMAIN], lease[LEASE_ORDER], id, lease[CRASHES])
  noteLife(id, 'pending')
end

local function fail(id, failure)
  call('ZADD', failedKey, nowUs, id)
  call('HSET', failuresKey, id, failure)
  if call('ZCARD', failedKey) > number('failed_limit', 100000) then call('HDEL', requests, id) end
end

-- The leases of an incarnation, up to `most` of them, by a walk over all: leases are few (nodes × concurrency).
local function leasesOf(incarnation, most)
  local found, cursor = {}, '0'
  repeat
    local page = call('HSCAN', leasesKey, cursor, 'COUNT', 500)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local lease = unpackLease(page[2][i + 1])
      if lease[OWNER] == incarnation and #found < most then found[#found + 1] = { page[2][i], lease } end
    end
  until cursor == '0' or #found >= most
  return found
end
