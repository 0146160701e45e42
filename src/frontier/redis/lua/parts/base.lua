-- Part of every script: the keys, their formats, the clock. The parts that a verb names in its `uses` line follow, each
-- with those it uses itself, then the verb: one script, and so one atomic step. What nobody names of it is left out
-- (trim-script.ts), and functions marked `-- rarely: <group>` are made when a call comes to one of their group
-- (rare-functions.ts).
--
-- KEYS, the same for all: 1 requests HASH id → record · 2 dupefilter · 3 items LIST · 4 stats HASH · 5… start_urls
-- Every other key is requests .. ':~' .. word (one slot in Cluster, since they share the hash tag).
-- ARGV, the same for all: 1 caller (an incarnation, or a client that never joined) · 2 call number, unique per
-- caller · 3 call numbers whose answers have arrived, separated by commas (to a verb that confirms) · then the verb's
-- own.
--
-- An id is 20 raw bytes. An order is 12 bytes that sort as the queue does: 5 of priority, 7 of arrival (µs).

local call = redis.call
-- What is asked for many times a call, since a name that is no local of the script is looked up twice.
local sub, char, floor, encode, decode, min, max = string.sub, string.char, math.floor, struct.pack, struct.unpack, math.min, math.max
local requests, dupefilter, itemsKey, statsKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local FIRST_START_URLS = 5

local metaKey = requests .. ':~meta' -- HASH, see DESIGN §5 "Shared record of the run"
local queueKey = requests .. ':~queue' -- HASH chunk → entries, see parts/chunks.lua
local chunksKey = requests .. ':~chunks' -- ZSET of 0: names of the chunks that follow their domain's first
local domainsKey = requests .. ':~domains' -- HASH name → domain record
local readyKey = requests .. ':~ready' -- ZSET of 0: order of the domain's head, name
local waitingKey = requests .. ':~waiting' -- ZSET time → name
local delayedKey = requests .. ':~delayed' -- ZSET time → id, 5 bytes of priority, domain name
local suspectsKey = requests .. ':~suspects' -- ZSET of 0: order, id, domain name
local leasesKey = requests .. ':~leases' -- HASH id → lease
local nodesKey = requests .. ':~nodes' -- ZSET last heartbeat → incarnation, the live ones
local deadKey = requests .. ':~dead' -- ZSET time → incarnation whose leases are being moved
local infoKey = requests .. ':~node-info' -- HASH incarnation → JSON
local heldKey = requests .. ':~held' -- HASH incarnation → leases
local pagesKey = requests .. ':~pages' -- HASH incarnation → pages settled
local crashesKey = requests .. ':~crashes' -- HASH id → crashes
local failedKey = requests .. ':~failed' -- ZSET time in µs → id
local failuresKey = requests .. ':~failures' -- HASH id → JSON: why it failed
local answersKey = requests .. ':~answers' -- HASH caller:call → answer not yet known to have arrived, caller:s call → of its settles, caller:t token → of one sent again
local feedsKey = requests .. ':~feeds' -- HASH feed → JSON, feed:head and feed:tail → sequence
local outboxKey = requests .. ':~outbox' -- HASH feed:sequence → JSON item
local repairedKey = requests .. ':~repaired' -- SET of ids a repair under way has put in their places

local MAX_CRASHES = 3
local MAX_UNPACK = 4000

local time = call('TIME')
local nowMs = time[1] * 1000 + floor(time[2] / 1000)
local nowUs = time[1] * 1000000 + time[2]

-- A number in a command: Redis itself takes four times as long to write it out, and gives it 17 digits at most.
local function inDigits(n) return string.format('%d', n) end

local NONE = {}

-- A list with room for so many: one that grows to 16 is made six times, at 600 instructions each.
local function roomFor(n) return n < 4 and {} or { unpack(NONE, 1, min(n, MAX_UNPACK)) } end

-- The replies to a command about any number of fields or members, those from one on, in one list; what is not there is
-- false.
local function fetched(command, key, names, from)
  local last = #names
  from = from or 1
  if last < from then return {} end
  if last - from < MAX_UNPACK then return call(command, key, unpack(names, from, last)) end
  local all = {}
  for i = from, last, MAX_UNPACK do
    for _, reply in ipairs(call(command, key, unpack(names, i, min(i + MAX_UNPACK - 1, last)))) do all[#all + 1] = reply end
  end
  return all
end

-- A command over any number of arguments, all of a list, or some.
local function chunked(command, key, values, from, to)
  to = to or #values
  for i = from or 1, to, MAX_UNPACK do call(command, key, unpack(values, i, min(i + MAX_UNPACK - 1, to))) end
end
