-- How requests that have been taken out of the queue become leases.
-- uses: nodes leases

-- In order. members: order and domain, as among the ready ones; delays: of the domains that have one, in ms. Leases of one
-- call have crashed equally often: a suspect is leased alone.
local ids, members, takenFrom, leasedRecords, delays, crashesOfLeased = {}, {}, {}, {}, {}, 0
local skipped = 0

-- One whose record is gone, since somebody typed DEL, is skipped and counted.
local function skip(n) -- rarely: seldom
  local d = domainOf(table.remove(takenFrom, n))
  table.remove(ids, n)
  table.remove(members, n)
  d[ACTIVE] = d[ACTIVE] - 1
  move(d)
  setMeta('removed', number('removed') + 1)
  skipped = skipped + 1
end

-- What has been taken, the first `from` aside, becomes leases.
local function leaseTaken(from, crashes)
  crashesOfLeased = crashes
  local taken = from == 0 and ids or { unpack(ids, from + 1) }
  local found, packed, n = fetched('HMGET', requests, taken), roomFor(2 * #taken), 0
  local beginning = encode(LEASE, #incarnation, incarnation, nowMs, tonumber(ARGV[2]), crashes)
  for i = #found, 1, -1 do
    if not found[i] then
      table.remove(found, i)
      skip(from + i)
    end
  end
  local ids, members = ids, members
  for i = from + 1, #ids do
    packed[n + 1], packed[n + 2] = ids[i], beginning .. members[i]
    n = n + 2
  end
  chunked('HSET', leasesKey, packed)
  noteLives(from == 0 and ids or { unpack(ids, from + 1) }, 'leased')
  if from == 0 then leasedRecords = found else
    for i = 1, #found do leasedRecords[from + i] = found[i] end
  end
end

local nowInBytes = encode('>I6', nowMs)

local function startClock(d, delay)
  d[LAST_AT], d[TOUCHED] = nowInBytes, true
  if delay == 0 then return end
  delays[d[DOMAIN_NAME]] = delay
  -- The delays of one call differ.
  local factor = meta.randomize == '1' and 1 + ((tonumber(ARGV[6]) + #ids * 0.618) % 1) / 2 or 1
  itsPoliteness(d).nextAt = nowMs + floor(delay * factor)
end
