-- What the settings give a domain: delay, concurrency and randomization of the crawl, or its own by DOWNLOAD_SLOTS.
--
-- meta.slots: JSON { domain: { delayMs, concurrency, randomizeDelay } }, each field absent where it is that of the crawl; ''
-- for none.

-- A tunable in JSON, decoded once a call; false for none, and for a text that somebody damaged.
function domainLimits.decoded(crawl, name)
  local value = crawl.decoded[name]
  if value == nil then
    local text = meta.get(crawl, name)
    local isJson, decoded = false, nil
    if text then isJson, decoded = pcall(cjson.decode, text) end
    value = isJson and type(decoded) == 'table' and decoded or false
    crawl.decoded[name] = value
  end
  return value
end

-- The limits of a domain; false or nil where it has none of its own.
function domainLimits.of(crawl, d)
  local all = domainLimits.decoded(crawl, 'slots')
  return all and all[d.name]
end

-- Its delay by the settings. `setting` of its record comes from `throttle`.
function domainLimits.delay(crawl, d)
  local slot = domainLimits.of(crawl, d)
  return d.delays and d.delays.setting or slot and slot.delayMs or meta.number(crawl, 'delay')
end

function domainLimits.isRandomized(crawl, d)
  local slot = domainLimits.of(crawl, d)
  if slot and slot.randomizeDelay ~= nil then return slot.randomizeDelay end
  return meta.get(crawl, 'randomize') == '1'
end

-- The smallest concurrency of any domain.
function domainLimits.leastLimit(crawl)
  local least = meta.number(crawl, 'limit', limits.FIRST_CONCURRENCY)
  for _, slot in pairs(domainLimits.decoded(crawl, 'slots') or {}) do least = math.min(least, slot.concurrency or least) end
  return least
end
