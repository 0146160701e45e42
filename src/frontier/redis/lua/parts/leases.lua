-- Leases: packed, ended, given back, failed, found by their node.
-- uses: domains queue life

-- Incarnation behind its length, leased at ms, number of the call that gave it, crashes; then order and domain. So
-- leases of one call begin alike, and that is packed once. A token is the number of that call, since it gives a request
-- once.
local LEASE = '>I2c0I6I6I4'
-- A lease is a list, as a domain is.
local GIVEN_BY, OWNER, LEASE_ORDER, LEASED_AT, CRASHES, LEASE_DOMAIN = 1, 2, 3, 4, 5, 6

local function beginningOfLeases(crashes) return encode(LEASE, #ARGV[1], ARGV[1], nowMs, tonumber(ARGV[2]), crashes) end

local function unpackLease(packed)
  local incarnation, atMs, givenBy, crashes, at = decode(LEASE, packed)
  return { givenBy, incarnation, sub(packed, at, at + ORDER - 1), atMs, crashes, sub(packed, at + ORDER) }
end

local freed, freedFrom, released = {}, {}, {}

-- Ends a lease's hold on its node and its domain; what becomes of the request is the verb's business.
local function freeLease(id, owner, domain)
  local n = #freed + 1
  freed[n], freedFrom[n] = id, domain
  released[owner] = (released[owner] or 0) + 1
end

-- Writes which leases have ended; to be called before anybody counts them.
local function saveLeases()
  chunked('HDEL', leasesKey, freed)
  for incarnation, n in pairs(released) do call('HINCRBY', heldKey, incarnation, -n) end
  loadDomains(freedFrom)
  for i = 1, #freedFrom do release(freedFrom[i]) end
  freed, freedFrom, released = {}, {}, {}
end

-- A lease goes back to pending as it was, uncounted: its arrival stays.
local function giveBack(id, lease)
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
