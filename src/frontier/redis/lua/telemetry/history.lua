-- Keep a point of the history, and the assessment that belongs to it.
-- Atomic: of two nodes that record the same step, the first one counts.
--
-- args: point, assessment: JSON · storedBytes: what the crawl takes, 0 where that does not matter · minutes: how many points a minute apart are kept
-- O(1), after a time without nodes O(points).

-- Keeps the point of a step, and deletes those of steps that are too long ago.
local function keep(crawl, name, stepMs, most, point)
  local at, step = crawl.keys.telemetry, math.floor(crawl.wallMs / stepMs)
  local last, gone = reader.number(redis.call('HGET', at, name)) or 0, {}
  if step == last then return end
  for old = last - most + 1, math.min(last, step - most) do gone[#gone + 1] = name .. lists.digits(old) end
  lists.send('HDEL', at, gone)
  redis.call('HSET', at, name .. lists.digits(step), point, name, lists.digits(step))
end

-- Losses are met one by one. An event tells of all since the one before.
local function tellLosses(crawl)
  local lost, told = meta.number(crawl, 'lost'), reader.number(redis.call('HGET', crawl.keys.telemetry, 'lost')) or 0
  if lost == told then return end
  if lost > told then events.add(crawl, 'requests_lost', { requests = lost - told }) end
  redis.call('HSET', crawl.keys.telemetry, 'lost', lists.digits(lost))
end

verbs.register('record', { 'allow-oom', 'crawl-if-any' }, function(crawl, args)
  keep(crawl, 's', limits.HISTORY_STEP_MS, limits.HISTORY_POINTS, args.point)
  keep(crawl, 'm', limits.HISTORY_LONG_STEP_MS, args.minutes, args.point)
  redis.call('HSET', crawl.keys.telemetry, 'assessment', args.assessment)
  if meta.number(crawl, 'stored_bytes') ~= args.storedBytes then meta.set(crawl, 'stored_bytes', args.storedBytes) end
  tellLosses(crawl)
end)
