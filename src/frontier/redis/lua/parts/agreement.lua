-- The dupefilter of a crawl is agreed by the first that writes into it, be it a seed or a node; two classes, or two
-- capacities, must never write into one record. DUPEFILTER is its text (shape.ts), put before this part with its
-- parameters by scripts.ts.
-- uses: meta

-- Both want meta to be read, 'dupefilter' included.
local function otherDupefilter()
  local agreed = meta.dupefilter
  if not agreed or agreed == '' or agreed == DUPEFILTER then return nil end
  return 'CRAWLNODE_SHAPE [' .. agreed .. ',' .. DUPEFILTER .. ']'
end

local function agreeOnDupefilter()
  if meta.dupefilter ~= DUPEFILTER then setMeta('dupefilter', DUPEFILTER) end
end
