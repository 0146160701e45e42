-- AutoThrottle: the delay of a domain follows its latency, for all nodes together, by the formula of Scrapy.
--
-- meta.autothrottle: JSON { startDelayMs, maxDelayMs, targetConcurrency }; '' while it is off. What it has found for a domain
-- is `autothrottle` of its delays (domains.lua).

function autothrottle.isOn(crawl) return domainLimits.decoded(crawl, 'autothrottle') ~= false end

-- The delay it asks for; 0 while it is off.
function autothrottle.delay(crawl, d)
  local auto = domainLimits.decoded(crawl, 'autothrottle')
  if not auto then return 0 end
  return d.delays and d.delays.autothrottle or auto.startDelayMs
end

-- Adjusts the delay of a domain to a response. A response other than 200 does not lower it, as error pages are often fast.
function autothrottle.adjust(crawl, name, latencyMs, status)
  local auto = domainLimits.decoded(crawl, 'autothrottle')
  if not auto then return end
  local d = domains.of(crawl, name)
  local least = domainLimits.delay(crawl, d)
  local old, target = math.max(least, autothrottle.delay(crawl, d)), latencyMs / auto.targetConcurrency
  local new = math.max(math.min(math.max(target, (old + target) / 2), auto.maxDelayMs), least)
  if status ~= 200 and new <= old then return end
  d.delays = d.delays or {}
  d.delays.autothrottle = new
  if new > old then delayTimer.countFromLastLease(crawl, d) end
  domains.markChanged(crawl, d)
end
