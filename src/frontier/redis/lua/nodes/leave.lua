-- Deregister an incarnation. The last one ends the run. It also clears the crawl if that is complete and does not persist;
-- a run that ends by a signal, stop or budget is never cleared.
-- Atomic: "am I the last" and "is it complete" must not change before the clearing.
--
-- The caller is the incarnation. args: reason · persist · rejoins: its process joins anew at once, so the run goes on ·
--   heardWithinMs: it stays if no other one was heard from within this time, since all others may have
--   been killed; absent: it leaves in any case · pipelines: as in lease.lua
-- Returns JSON of last, cleared; if it stays, also awaits: forMs: time until all others count as dead, incarnations: theirs.
-- O(nodes + leases).

-- The caller counts as heard from: so of two nodes that want to leave, one leaves and the other is the last. The answer is
-- not kept, because it does no harm to repeat this check.
local function mayAllBeDead(crawl, args)
  redis.call('ZADD', crawl.keys.nodes, 'XX', crawl.nowMs, crawl.caller)
  nodes.markDead(crawl)
  local others, names, latest = redis.call('ZREVRANGE', crawl.keys.nodes, 0, -1, 'WITHSCORES'), {}, 0
  for i = 1, #others, 2 do
    if others[i] ~= crawl.caller then
      if #names < 100 then names[#names + 1] = others[i] end
      latest = math.max(latest, tonumber(others[i + 1]))
    end
  end
  if #names == 0 or crawl.nowMs - latest < args.heardWithinMs then return nil end
  return { forMs = latest + nodes.timeoutMs(crawl) - crawl.nowMs, incarnations = names }
end

local function isFinished(crawl, args)
  return completion.isFinished(crawl, completion.seedsWaiting(crawl), args.pipelines)
end

-- Ends the run; returns whether the crawl was cleared with it.
local function endRun(crawl, args)
  if not meta.get(crawl, 'run_closed') then
    meta.set(crawl, 'run_closed', meta.get(crawl, 'closing') or args.reason)
    meta.set(crawl, 'run_ended', crawl.wallMs)
    events.add(crawl, 'run_ended', { reason = meta.get(crawl, 'run_closed') })
  end
  local isComplete = meta.get(crawl, 'run_closed') == 'finished' and isFinished(crawl, args) and meta.number(crawl, 'lost') == 0
  if isComplete then pageQuota.forget(crawl) end
  if args.persist or not isComplete then return false end
  wipe.crawl(crawl, false)
  return true
end

verbs.register('leave', { 'allow-oom' }, function(crawl, args)
  keys.refuseForeign(crawl.KEYS)
  -- A repeated call: the first one cleared everything, its kept answer included.
  if not args.persist and not args.rejoins and not meta.exists(crawl) then
    return cjson.encode({ last = true, cleared = true })
  end
  meta.read(crawl)
  nodes.refuseOfOther(crawl)
  local first = answers.first(crawl)
  if first then return first end
  local mayStay = args.heardWithinMs and not args.persist and nodes.isLive(crawl, crawl.caller)
  local awaits = mayStay and meta.number(crawl, 'lost') == 0 and isFinished(crawl, args) and mayAllBeDead(crawl, args)
  if awaits then
    verbs.save(crawl)
    return cjson.encode({ last = false, cleared = false, awaits = awaits })
  end
  leaseRecords.returnToQueue(crawl, leaseRecords.of(crawl, crawl.caller, math.huge))
  if nodes.isLive(crawl, crawl.caller) and not args.rejoins then
    events.add(crawl, 'node_left', { node = nodes.idOf(crawl, crawl.caller), reason = args.reason })
  end
  nodes.drop(crawl, crawl.caller)
  nodes.markDead(crawl)
  local last = redis.call('ZCARD', crawl.keys.nodes) == 0 and not args.rejoins
  local answer = { last = last, cleared = last and endRun(crawl, args) }
  local reply = cjson.encode(answer)
  if not answer.cleared then
    verbs.save(crawl)
    answers.keep(crawl, reply)
  end
  return reply
end)
