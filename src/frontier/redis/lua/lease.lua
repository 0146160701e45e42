-- Take up to max due and polite requests, best first over all domains, and say how the crawl stands.
-- Atomic: order, delays and concurrency hold for all nodes together because they are decided here, on one clock.
--
-- ARGV: 4 max · 5 how many requests the node processes now · 6 a random number in [0, 1) ·
-- 7 the crawl this node joined
-- Returns { number of the call that gave them, their ids (20 bytes each), their domains { }, their records { }, the
-- delays of their domains in ms { } (none where all are 0), crashes of each, wait ms, control, finished 0|1, accepted
-- in run, closing, seeds waiting, idle ms, queue full 0|1 }. O(k log n) for k leases.
-- uses: guards leasing

local refusal = readMeta('control', 'limit', 'delay', 'run_pages', 'run_accepted', 'budgets', 'closing', 'queue_limit', 'volunteer', 'idle_since', 'hungry')
if refusal then return redis.error_reply(refusal) end
if not isLive(ARGV[1]) then return redis.error_reply(deathIn(ARGV[7])) end
unlessFull()
confirmArrived()
local answer = answerLeases()
flush()
return answer
