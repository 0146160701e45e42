-- The marks of dupefilters that keep a fingerprint as its 20 raw bytes.

local function marksOf(text, idsAt, _, count)
  local marks = {}
  for i = 1, count do marks[i] = sub(text, idsAt + i * 20 - 20, idsAt + i * 20 - 1) end
  return marks
end
