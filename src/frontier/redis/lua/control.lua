-- Pause, resume or stop the crawl for every node, or close its run with a reason; the first reason stays.
--
-- ARGV: 4 control (running | paused | stopping | '') · 5 closing reason or ''
-- Returns OK. O(1).
-- uses: meta

local refusal = readMeta('closing')
if refusal then return redis.error_reply(refusal) end
if ARGV[4] ~= '' then setMeta('control', ARGV[4]) end
if ARGV[5] ~= '' and (not meta.closing or meta.closing == '') then
  setMeta('closing', ARGV[5])
  setMeta('closed_at', nowMs)
end
saveMeta()
return redis.status_reply('OK')
