-- Leases: packed, ended, given back, failed, found by their node.
-- uses: domains queue life

-- Incarnation behind its length, leased at ms, crashes, order, token, a NUL, domain. What leases of one call have in common
-- stands first, packed once for all. (MessagePack takes twice as long.)
local LEASE, COMMON = '>I2c0I6I4c12s', '>I2c0I6I4'
-- A lease is a list, as a domain is.
local TOKEN, OWNER, LEASE_ORDER, LEASED_AT, CRASHES, LEASE_DOMAIN = 1, 2, 3, 4, 5, 6

local function packCommon(incarnation, crashes) return encode(COMMON, #incarnation, incarnation, nowMs, crashes) end

local function packLease(common, order, token, domain) return common .. order .. token .. '\0' .. domain end

local function unpackLease(packed)
  local incarnation, atMs, crashes, order, token, domainAt = decode(LEASE, packed)
  return { token, incarnation, order, atMs, crashes, sub(packed, domainAt) }
end

local freed, released = {}, {}

-- Ends a lease's hold on its node and its domain; what becomes of the request is the verb's business.
local function freeLease(id, lease)
  freed[#freed + 1] = id
  released[lease[OWNER]] = (released[lease[OWNER]] or 0) + 1
  release(lease[LEASE_DOMAIN])
end

-- Writes which leases have ended; to be called before anybody counts them.
local function saveLeases()
  chunked('HDEL', leasesKey, freed)
  for incarnation, n in pairs(released) do call('HINCRBY', heldKey, incarnation, -n) end
  freed, released = {}, {}
end

-- A lease goes back to pending as it was, uncounted: its arrival stays.
local function giveBack(id, lease)
  freeLease(id, lease)
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
