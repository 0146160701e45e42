-- Move failed requests back to pending, with a new arrival and a clean record of crashes.
-- Atomic: an id is in exactly one place at any instant.
--
-- ARGV: 4 count · 5 the batch (see parts/acceptance.lua)
-- Returns how many were failed and are pending now. O(n log m).
-- uses: acceptance life

local asked = tonumber(ARGV[4])
if call('EXISTS', metaKey) == 0 then return 0 end
local refusal = readMeta(acceptFields())
if refusal then return redis.error_reply(refusal) end
unlessFull()

local batch = ARGV[5]
local idsAt, _, numbersAt, namesAt, recordsAt = partsOfBatch(batch, 1, asked)
local moved = {}
for i = 1, asked do
  local id = sub(batch, idsAt + i * 20 - 20, idsAt + i * 20 - 1)
  local priority, index, _, _, from, length = decode(NUMBERS_FORMAT, batch, numbersAt + (i - 1) * NUMBERS)
  if revive(id, sub(batch, recordsAt + from, recordsAt + from + length - 1)) then
    noteLife(id, 'pending', UNTRIED)
    moved[#moved + 1] = index + 1
    moved[#moved + 1] = priority
    moved[#moved + 1] = id
  end
end
local count = #moved / 3
if count > 0 then
  enqueueAll(moved, #moved, namesOf(sub(batch, namesAt, recordsAt - 1)))
  setMeta('run_accepted', number('run_accepted') + count)
end
flush()
return count
