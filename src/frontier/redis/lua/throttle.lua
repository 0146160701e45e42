-- Leave a domain alone for a while, or change its delay, for every node. Atomic with leasing: the next lease obeys.
--
-- ARGV: 4 domain · 5 source (setting | robots | autothrottle | retry-after) · 6 delay ms or '' · 7 for ms or ''
-- Returns OK. O(log n). A day is the longest that a domain is left alone.
-- uses: placing

local name, source = ARGV[4], ARGV[5]
local refusal = readMeta('queue', 'limit', 'delay', 'domain_numbers')
if refusal then return redis.error_reply(refusal) end

local d = domainOf(name)
local p = itsPoliteness(d)
if ARGV[6] ~= '' then
  local field = source == 'robots' and 'delayRobots' or source == 'autothrottle' and 'delayAuto' or 'delaySetting'
  p[field] = tonumber(ARGV[6])
  -- A delay that is learnt after a lease counts from that lease on.
  local delay = delayOf(d)
  local lastAt = decode('>I6', d[LAST_AT])
  if delay > 0 and lastAt > 0 then p.nextAt = max(p.nextAt, min(lastAt, nowMs) + delay) end
end
if ARGV[7] ~= '' then p.blockedUntil = max(p.blockedUntil, nowMs + min(tonumber(ARGV[7]), 86400000)) end
placeDomain(d)
flush()
return redis.status_reply('OK')
