-- A request as the HASH `requests` stores it: the JSON of its record, a NUL, and when it was accepted and is due. So the
-- records alone say in which order the requests wait, and a repair can rebuild every queue from them.
--
--   json      never parsed here; JSON contains no NUL byte
--   arrival   7 bytes, in µs: the one in its order (queue.lua)
--   due       6 bytes, in ms: of a delayed request; 0 for any other
local TAIL, TAIL_BYTES = '>I7I6', 13
local LATEST = 9007199254740992

function storedRecord.pack(json, arrival, due) return json .. '\0' .. struct.pack(TAIL, arrival, due or 0) end

-- The JSON of a stored record; of what somebody else wrote all of it. False where there is none.
function storedRecord.json(bytes)
  if not bytes or string.byte(bytes, -TAIL_BYTES - 1) ~= 0 then return bytes end
  return string.sub(bytes, 1, -TAIL_BYTES - 2)
end

-- Arrival and due instant; nil where they cannot be read.
function storedRecord.times(bytes)
  if string.byte(bytes, -TAIL_BYTES - 1) ~= 0 then return nil end
  local arrival, due = struct.unpack(TAIL, bytes, #bytes - TAIL_BYTES + 1)
  if arrival < LATEST then return arrival, due end
end
