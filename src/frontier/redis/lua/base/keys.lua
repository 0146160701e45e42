-- The keys of a crawl, and what each of them holds: the data format. A change here that an older crawlnode would misread
-- needs a new number in data-format.ts.
--
-- Every call declares all keys in KEYS, in this order, which keys.ts repeats. `absent` never exists. So during a slot
-- migration in a Cluster Redis finds a key missing and answers TRYAGAIN, or ASK where no key is left, before the function
-- starts. No call can fail halfway.
local FIXED = 36

function keys.byName(KEYS)
  return {
    -- The public ones, by their templates.
    requests = KEYS[1], -- HASH id → record of each request (stored-record.lua), not of failed ones beyond FAILED_LIMIT
    dupefilter = KEYS[2], -- of one key: SET, ZSET or HASH, see dupefilters/
    items = KEYS[3], -- LIST of JSON
    stats = KEYS[4], -- HASH counter → number
    -- The run, see meta.lua.
    meta = KEYS[5], -- HASH
    -- Requests by state. For "member" and "entry" see queue.lua.
    queue = KEYS[6], -- ZSET, all scores 0: member of each pending request that is not a suspect
    suspects = KEYS[7], -- ZSET by crashes: entry of each pending request that was leased when its node died
    delayed = KEYS[8], -- ZSET due at → entry
    leases = KEYS[9], -- HASH id → record, see leases/lease-records.lua
    failed = KEYS[10], -- ZSET failed at in µs → id
    failures = KEYS[11], -- HASH id → JSON { reason, status, attempts, crashes, node, detail }
    crashes = KEYS[12], -- HASH id → number of nodes that died while processing it
    -- Domains.
    domains = KEYS[13], -- HASH name → record, see domains/domains.lua
    ready = KEYS[14], -- ZSET, all scores 0: entry of the best request of each domain that is ready
    waiting = KEYS[15], -- ZSET instant → name of a domain that must not be leased from before
    -- Nodes.
    nodes = KEYS[16], -- ZSET last heartbeat → incarnation, of those not declared dead
    dead = KEYS[17], -- ZSET instant → incarnation whose leases are still to be moved
    ['node-info'] = KEYS[18], -- HASH incarnation → JSON { id, host, pid, startedAt, joinedAtMs, pagesPerSecond }
    held = KEYS[19], -- HASH incarnation → number of its leases
    settled = KEYS[20], -- HASH incarnation → pages it has settled as done or failed
    answers = KEYS[21], -- HASH → answers that may not have arrived, see answers.lua
    -- Feeds, see feeds/feeds.lua.
    feeds = KEYS[22], -- HASH feed → JSON, feed:tail → number of its last item
    outbox = KEYS[23], -- HASH feed:number → item
    -- robots.txt, see robots/origins.lua.
    robots = KEYS[24], -- HASH origin → what is known of its robots.txt
    ['robots-kept'] = KEYS[25], -- ZSET instant → origin whose entry in `robots` is not needed from then on
    -- Cookies, see cookies/cookies.lua.
    cookies = KEYS[26], -- HASH jar and domain → JSON of their cookies, jar → how many it has
    ['cookie-versions'] = KEYS[27], -- ZSET version → jar and domain
    jars = KEYS[28], -- ZSET version → jar
    validators = KEYS[29], -- HASH fingerprint → ETag and Last-Modified of its page, see dupefilters/validators.lua
    ['domain-accepted'] = KEYS[30], -- HASH domain → requests accepted, see domains/page-quota.lua
    early = KEYS[31], -- SET of pages with links that they pushed before their settles, see requests/early-links.lua
    ignored = KEYS[32], -- LIST of JSON { status, url, parent }: the last pages whose statuses were ignored, see IgnoredPage
    -- A dupefilter of many keys, see dupefilters/pieces.lua.
    index = KEYS[33], -- HASH
    garbage = KEYS[34], -- HASH generation → pieces left
    probe = KEYS[35], -- a SET for an instant, when a client starts (preflight.ts)
    absent = KEYS[36], -- never exists
  }
end

-- { key, bad: the LIST that its bad seeds are set aside in } for each start_urls key.
function keys.startUrls(KEYS)
  local found = {}
  for i = FIXED + 1, #KEYS, 2 do found[#found + 1] = { key = KEYS[i], bad = KEYS[i + 1] } end
  return found
end

-- Refuses a call for a key that is neither empty nor of this type.
function keys.refuseOther(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= wanted then
    verbs.refuse('CRAWLNODE_TYPE ' .. cjson.encode({ key, found, wanted }))
  end
end

local SIZE_COMMANDS = { hash = 'HLEN', list = 'LLEN', set = 'SCARD', zset = 'ZCARD' }

-- Refuses a call when somebody has put another type into a key, before the first write: Redis would end the call at the first
-- command on that key, in its middle. Asks for sizes, since TYPE takes twice as long.
function keys.refuseForeign(KEYS)
  for i = 1, #keyTypes do
    local command = SIZE_COMMANDS[keyTypes[i]]
    if command and type(redis.pcall(command, KEYS[i])) ~= 'number' then keys.refuseOther(KEYS[i], keyTypes[i]) end
  end
end

-- Whether a key is empty or of this type.
function keys.isOf(type, key)
  local found = redis.call('TYPE', key).ok
  return found == 'none' or found == type
end
