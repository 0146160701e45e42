-- Move failed requests back to pending, with a new arrival and a clean record of crashes.
-- Atomic: an id is in exactly one place at any instant.
--
-- ARGV: 4 count · 5 the batch (see parts/acceptance.lua)
-- Returns how many were failed and are pending now. O(n log m).
-- uses: acceptance life

local count = tonumber(ARGV[4])
if call('EXISTS', metaKey) == 0 then return 0 end
local refusal = readMeta(unpack(ACCEPT_FIELDS))
if refusal then return redis.error_reply(refusal) end
unlessFull()

local batch = ARGV[5]
local idsAt, _, numbersAt, namesAt, recordsAt = partsOfBatch(batch, 1, count)
local names, moved = namesOf(sub(batch, namesAt, recordsAt - 1)), 0
for i = 1, count do
  local id = sub(batch, idsAt + i * 20 - 20, idsAt + i * 20 - 1)
  local priority, index, _, _, from, to = numbersOf(batch, numbersAt, i, recordsAt)
  if revive(id, sub(batch, from, to)) then
    noteLife(id, 'pending', UNTRIED)
    enqueueNew(names[index], priority, id)
    moved = moved + 1
  end
end
if moved > 0 then setMeta('run_accepted', number('run_accepted') + moved) end
flush()
return moved
