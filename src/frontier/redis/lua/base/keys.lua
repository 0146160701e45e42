-- The keys of a crawl, and what each of them holds: the data format. A change here that an older crawlnode would misread
-- needs a new number in data-format.ts.
--
-- Every call declares all keys in KEYS, in the order of keys.ts, from which library.ts makes `keysByName`. `absent` never exists.
-- So during a slot migration in a Cluster Redis finds a key missing and answers TRYAGAIN, or ASK where no key is left, before the
-- function starts. No call can fail halfway.
--
-- The public ones, by their templates.
--   requests         HASH id → record of each request (stored-record.lua), not of failed ones beyond FAILED_LIMIT
--   dupefilter       of one key: SET, ZSET or HASH, see dupefilters/
--   items            LIST of JSON
--   stats            HASH counter → number
-- The run, see meta.lua.
--   meta             HASH
-- Requests by state. For "member" and "entry" see queue.lua.
--   queue            ZSET, all scores 0: member of each pending request that is not a suspect
--   suspects         ZSET by crashes: entry of each pending request that was leased when its node died
--   delayed          ZSET due at → entry
--   leases           HASH id → record, see leases/lease-records.lua
--   failed           ZSET failed at in µs → id
--   failures         HASH id → JSON { reason, status, attempts, crashes, node, detail }
--   crashes          HASH id → number of nodes that died while processing it
-- Domains.
--   domains          HASH name → record, see domains/domains.lua
--   ready            ZSET, all scores 0: entry of the best request of each domain that is ready
--   waiting          ZSET instant → name of a domain that must not be leased from before
-- Nodes.
--   nodes            ZSET last heartbeat → incarnation, of those not declared dead
--   dead             ZSET instant → incarnation whose leases are still to be moved
--   node-info        HASH incarnation → JSON { id, host, pid, startedAt, joinedAtMs, pagesPerSecond }
--   held             HASH incarnation → number of its leases
--   settled          HASH incarnation → pages it has settled as done or failed
--   answers          HASH → answers that may not have arrived, see answers.lua
-- Feeds, see feeds/feeds.lua.
--   feeds            HASH feed → JSON, feed:tail → number of its last item
--   outbox           HASH feed:number → item
-- robots.txt, see robots/origins.lua.
--   robots           HASH origin → what is known of its robots.txt
--   robots-kept      ZSET instant → origin whose entry in `robots` is not needed from then on
-- Cookies, see cookies/cookies.lua.
--   cookies          HASH jar and domain → JSON of their cookies, jar → how many it has
--   cookie-versions  ZSET version → jar and domain
--   jars             ZSET version → jar
--   validators       HASH fingerprint → ETag and Last-Modified of its page, see dupefilters/validators.lua
--   domain-accepted  HASH domain → requests accepted, see domains/page-quota.lua
--   early            SET of pages with links that they pushed before their settles, see requests/early-links.lua
--   ignored          LIST of JSON { status, url, referer }: the last pages whose statuses were ignored, see IgnoredPage
-- What nodes report, see telemetry/.
--   telemetry        HASH of texts, see src/frontier/telemetry/stored-telemetry.ts
--   domain-stats     HASH domain → counts, see telemetry/domain-counts.lua
--   domain-recent    ZSET instant of the last report → domain
-- A dupefilter of many keys, see dupefilters/pieces.lua.
--   index            HASH
--   garbage          HASH generation → pieces left
--   absent           never exists

-- { key, bad: the LIST that its bad seeds are set aside in } for each start_urls key.
function keys.startUrls(KEYS)
  local found = {}
  for i = #keyWords + 1, #KEYS, 2 do found[#found + 1] = { key = KEYS[i], bad = KEYS[i + 1] } end
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
-- The command for each of KEYS that is always of the same type, else false.
local commands = {}
for i = 1, #keyWords do commands[i] = SIZE_COMMANDS[keyTypes[keyWords[i]]] or false end

-- Returns the place of a key with more fields than crawlnode writes, and their number.
local function askSizes(KEYS)
  local forged, fields
  for i = 1, #commands do
    local size = commands[i] and redis.call(commands[i], KEYS[i])
    local most = maxFields[keyWords[i]]
    if most and size > most then forged, fields = i, size end
  end
  return forged, fields
end

-- Refuses a call when somebody has put another type into a key, or far more fields than crawlnode walks, before the first write:
-- Redis would end the call at the first command on that key, in its middle. Asks for sizes, since TYPE takes twice as long, and
-- under one pcall: a redis.pcall for each key takes half as long again.
function keys.refuseForeign(KEYS)
  local areSizes, forged, fields = pcall(askSizes, KEYS)
  if forged and areSizes then verbs.refuse('CRAWLNODE_MANY ' .. cjson.encode({ KEYS[forged], lists.digits(fields) })) end
  if areSizes then return end
  for i, word in ipairs(keyWords) do
    if keyTypes[word] then keys.refuseOther(KEYS[i], keyTypes[word]) end
  end
end

-- Whether a key is empty or of this type.
function keys.isOf(type, key)
  local found = redis.call('TYPE', key).ok
  return found == 'none' or found == type
end
