-- Move failed requests back to pending, with a new arrival and a clean record of crashes.
-- Atomic: an id is in exactly one place at any instant.
--
-- ARGV: 4 count · 5–8 the batch (see parts/acceptance.lua) · 9… records
-- Returns how many were failed and are pending now. O(n log m).
-- uses: acceptance life

local count = tonumber(ARGV[4])
if call('EXISTS', metaKey) == 0 then return 0 end
local refusal = readMeta(unpack(ACCEPT_FIELDS))
if refusal then return redis.error_reply(refusal) end
unlessFull()

local names = {}
for name in string.gmatch(ARGV[8], '([^%z]*)%z') do names[#names + 1] = name end
local moved = 0
for i = 1, count do
  local id = sub(ARGV[5], i * 20 - 19, i * 20)
  if revive(id, ARGV[8 + i]) then
    noteLife(id, 'pending', UNTRIED)
    local index = struct.unpack('>I2', ARGV[7], i * 14 - 8)
    enqueue(names[index + 1], orderOf(sub(ARGV[7], i * 14 - 13, i * 14 - 9), takeArrival()), id)
    moved = moved + 1
  end
end
if moved > 0 then setMeta('run_accepted', number('run_accepted') + moved) end
flush()
return moved
