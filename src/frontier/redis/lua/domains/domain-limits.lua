-- What the settings give a domain: delay, concurrency and randomization of the crawl, or its own by DOWNLOAD_SLOTS.
--
-- meta.slots: JSON { domain: { delayMs, concurrency, randomizeDelay } }, each field absent where it is that of the crawl; ''
-- for none.

local SLOT = { delayMs = 'number', concurrency = 'number', randomizeDelay = 'boolean' }
local AUTOTHROTTLE = { startDelayMs = 'number', maxDelayMs = 'number', targetConcurrency = 'number' }

local isWhole = {
  slots = function(slots)
    for _, slot in pairs(slots) do
      if type(slot) ~= 'table' or not reader.hasFields(slot, SLOT) then return false end
    end
    return true
  end,
  autothrottle = function(auto) return reader.hasAll(auto, AUTOTHROTTLE) end,
}

-- A tunable in JSON, decoded once a call; false for none, and for a text that somebody damaged.
function domainLimits.decoded(crawl, name)
  local value = crawl.decoded[name]
  if value == nil then
    local text = meta.get(crawl, name)
    local decoded = text and reader.json(text)
    value = decoded and isWhole[name](decoded) and decoded or false
    crawl.decoded[name] = value
  end
  return value
end

-- Refuses a call before its first write where a limit cannot be read: without it the crawl would ask sites too often. The
-- next node that joins writes all of them.
function domainLimits.check(crawl)
  for _, name in ipairs({ 'delay', 'limit', 'slots', 'autothrottle', 'queue_limit', 'memory_limit', 'pages_per_domain' }) do
    local text = meta.get(crawl, name)
    local isRead = not text or (isWhole[name] and domainLimits.decoded(crawl, name)) or reader.number(text)
    if not isRead then verbs.refuse('CRAWLNODE_FIELD ' .. crawl.keys.meta .. ' ' .. name) end
  end
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
