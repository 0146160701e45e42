-- End leases and commit their effects: of each its items, discovered requests, counters and the acknowledgement in one
-- step, or nothing. Each is judged by itself; they travel together because most of a call's cost is the call.
-- Atomic: this is what makes a page commit once; a stale token changes nothing.
--
-- ARGV: 4 how many, at most 64 · 5 feeds and 6 names of counters, each followed by a NUL · 7 what they all
-- add to each of these counters (digits, followed by a NUL too), so that only those that commit nothing are gone
-- through · 8 which of them have travelled before, and were not answered: n=call.line=token of the first time,
-- separated by commas · 9 epochs that the sender's cache was judged under, each followed by a NUL · 10 heads, 55 bytes
-- each: number of the call that gave the lease (6), kind (1: d done, t retry, f failed, r released), how many requests,
-- items and feed items (2 each), which epoch (1; 0: nothing was withheld), what the budgets are to know of the
-- counters: items scraped and errors (6 each);
-- retry: after ms, released: 1 when unstarted (6), HTTP status or 0 and attempts (2 each), priority of a retry (5), how
-- many counters (2), where in this argument they begin (4), where a note does and its bytes (4 each); behind the heads
-- of each counter the number of its name (2) and value (8, a double), and the notes: the record of a retry, JSON of why
-- one failed · 11… their ids, no two of one lease · then the items of all, and the feed items of all · last the batches of those that
-- bring requests, one after the other (see parts/acceptance.lua), '' for none
-- Their answers are kept together by the call, and of one that is sent again with others by its token too: it looks at
-- the call that it first travelled in, and for what was kept since.
-- Returns a line for each: 'committed', accepted, duplicates, dropped, how many links are not seen, epoch | 'lost' |
-- 'resend' | 'closed': the run's item budget was used up before this page with its items came, so its request is
-- pending again. O(n log m).
-- uses: settling

local refusal = readMeta('epoch', 'done', 'limit', 'budgets', 'closing', acceptFields(ARGV[#ARGV])) or refuseForeign()
if refusal then return redis.error_reply(refusal) end
confirmArrived()
local answers = answerSettles(4)
flush()
return answers
