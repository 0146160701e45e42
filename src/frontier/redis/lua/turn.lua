-- End leases as settle.lua does, then lease as lease.lua does: what a node does in one turn of its loop, in one call,
-- since most of the cost of a small call is the call (measured: 70 µs of Redis each).
-- Atomic: so are the two by themselves; together, what a page gave is leased in the same step.
--
-- ARGV: 4–7 as 4–7 of lease.lua · 8… as 4… of settle.lua
-- Returns { what settle.lua returns, what lease.lua returns }. The second is empty where lease.lua would refuse: the
-- store is full, which must not keep a page from being committed, or this node is dead. O(n log m).
-- uses: settling leasing

local refusal = readMeta('epoch', 'done', 'control', 'limit', 'delay', 'run_pages', 'run_accepted', 'budgets', 'closing', 'queue_limit', 'volunteer',
  'idle_since', 'hungry', acceptFields(ARGV[#ARGV])) or refuseForeign()
if refusal then return redis.error_reply(refusal) end
local isFull = hasNoMemory()
confirmArrived()
local answers = answerSettles(8)
local leased = {}
if not isFull and isLive(ARGV[1]) then leased = answerLeases() end
flush()
return { answers, leased }
