-- A request that was in work when its node died is a suspect: it is leased alone, to a node that holds nothing else.
-- uses: taking

local LOOK_AT_SUSPECTS = 100

-- The first suspect whose domain may be leased from; a domain that must wait is put among the waiting, so that it is
-- known when to ask again.
local function eligibleSuspect()
  for _, member in ipairs(call('ZRANGE', suspectsKey, 0, LOOK_AT_SUSPECTS - 1)) do
    local name = sub(member, 33)
    local d = domainOf(name)
    if dueAt(d) > nowMs then
      if d[PLACE] ~= 'w' then placeDomain(d) end
    elseif d[ACTIVE] < number('limit', 8) then
      return member
    end
  end
  return nil
end

local function takeSuspect(member)
  local name, id = sub(member, 33), sub(member, 13, 32)
  local d = domainOf(name)
  call('ZREM', suspectsKey, member)
  d[ACTIVE] = d[ACTIVE] + 1
  ids[1], members[1], takenFrom[1] = id, sub(member, 1, ORDER) .. name, name
  startClock(d, delayOf(d))
  placeDomain(d)
  leaseTaken(0, tonumber(call('HGET', crashesKey, id) or 1))
end

-- One incarnation at a time volunteers for the suspects: it empties itself, then processes them one by one alone.
local function volunteers() -- rarely: aside
  local volunteer = meta.volunteer
  if volunteer and volunteer ~= '' and volunteer ~= incarnation and isLive(volunteer) then return false end
  local mayBe = volunteer == incarnation or call('ZCARD', suspectsKey) > 0
  local isBusy = mayBe and (tonumber(ARGV[5]) > 0 or tonumber(call('HGET', heldKey, incarnation) or 0) > 0)
  -- It holds a suspect, or empties itself for one: nothing else until then.
  if volunteer == incarnation and isBusy then return true end
  local member = mayBe and eligibleSuspect()
  if not member then
    if volunteer and volunteer ~= '' then setMeta('volunteer', '') end
    return false
  end
  setMeta('volunteer', incarnation)
  if not isBusy then takeSuspect(member) end
  return true
end
