-- A node's sign of life, with what it reports of itself. Sent by the heartbeat thread on its own connection.
--
-- ARGV: 4 incarnation · 5 pages per second
-- Returns alive | dead | gone. O(log n).
-- uses: nodes guards

if call('EXISTS', metaKey) == 0 then return 'gone' end
if not isLive(ARGV[4]) then return 'dead' end
evenWhenFull()
call('ZADD', nodesKey, nowMs, ARGV[4])
local info = cjson.decode(call('HGET', infoKey, ARGV[4]) or '{}')
info.pagesPerSecond = tonumber(ARGV[5])
call('HSET', infoKey, ARGV[4], cjson.encode(info))
return 'alive'
