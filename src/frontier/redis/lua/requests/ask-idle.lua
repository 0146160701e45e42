-- Claim to ask the hooks for an idle crawl, or end the claim.
-- Atomic: of two nodes that find the crawl idle one asks. A node that died is replaced.
--
-- args: againAfterMs: to claim; how long ago they must have been asked last,
--   where no page has begun since; absent: never again · ended: to end the claim
-- Returns whether the caller asks now, as 1 or 0. O(log n).
verbs.register('ask_idle', { 'crawl', 'live-node' }, function(crawl, args)
  local owner, mayAsk = completion.asker(crawl), false
  if args.ended then
    if owner == crawl.caller then
      -- A page that has begun since the claim may have changed what the hooks would say.
      meta.set(crawl, 'idle_owner', '')
      meta.set(crawl, 'idle_asked', meta.get(crawl, 'idle_leased'))
      meta.set(crawl, 'idle_asked_at', crawl.nowMs)
    end
  elseif not completion.isBusy(crawl) and (not owner or owner == crawl.caller) then
    local askedMs = crawl.nowMs - meta.number(crawl, 'idle_asked_at')
    mayAsk = not completion.wasAsked(crawl) or (args.againAfterMs and askedMs >= args.againAfterMs) or false
    if mayAsk then
      meta.set(crawl, 'idle_owner', crawl.caller)
      meta.set(crawl, 'idle_leased', meta.number(crawl, 'run_leased'))
    end
  end
  return mayAsk and 1 or 0
end)
