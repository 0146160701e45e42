-- When a run is over.
-- uses: meta chunks

local function seedsWaiting() -- rarely: aside
  local total = 0
  for i = FIRST_START_URLS, #KEYS do
    local kind = call('TYPE', KEYS[i]).ok
    if kind == 'list' then total = total + call('LLEN', KEYS[i])
    elseif kind == 'set' then total = total + call('SCARD', KEYS[i])
    elseif kind == 'zset' then total = total + call('ZCARD', KEYS[i]) end
  end
  return total
end

-- True completion, decided here and nowhere else.
local function isFinished(seeds) -- rarely: seldom
  return seeds == 0 and meta.control == 'running' and (meta.has_start ~= '1' or meta.start == 'pushed')
    and pendingCount() == 0 and call('ZCARD', delayedKey) == 0 and call('HLEN', leasesKey) == 0
    and call('ZCARD', suspectsKey) == 0
end
