-- Commands over any number of arguments. Lua cannot unpack more than some 8,000 values at once.
local MOST = 4000

-- `key` and then all values, in as many commands as it takes. No command for no values. Returns the sum of the replies.
function lists.send(command, key, values)
  local sum = 0
  for i = 1, #values, MOST do
    local reply = redis.call(command, key, unpack(values, i, math.min(i + MOST - 1, #values)))
    if type(reply) == 'number' then sum = sum + reply end
  end
  return sum
end

-- The replies to a command that reads the named fields or members, in one list.
function lists.read(command, key, names)
  local size = #names
  if size == 0 then return {} end
  if size <= MOST then return redis.call(command, key, unpack(names)) end
  local all = {}
  for i = 1, size, MOST do
    local replies = redis.call(command, key, unpack(names, i, math.min(i + MOST - 1, size)))
    for n = 1, #replies do all[#all + 1] = replies[n] end
  end
  return all
end

-- A whole number as an argument: Redis would write it out as a fraction, which takes several times as long.
function lists.digits(number) return string.format('%d', number) end

-- Puts the values of a list, which may be absent, behind those of another.
function lists.append(list, values)
  for i = 1, values and #values or 0 do list[#list + 1] = values[i] end
end

-- Puts a name and its value behind those of a list.
function lists.pair(list, name, value)
  local size = #list
  list[size + 1], list[size + 2] = name, value
end

-- Bytes as hexadecimal digits.
function lists.hex(bytes)
  return (string.gsub(bytes, '.', function(byte) return string.format('%02x', string.byte(byte)) end))
end
