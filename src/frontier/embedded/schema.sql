-- The embedded frontier: one file, frontier.db, in the folder JOBDIR (default .crawlnode), for all crawls of the folder.
--
-- Look into it while a crawl runs:  sqlite3 -readonly .crawlnode/frontier.db
--
--   which crawls there are      SELECT id, name FROM space WHERE is_crawl;
-- and with the id of one of them for :crawl
--   the state of a crawl        SELECT * FROM crawl JOIN tally USING (space) WHERE space = :crawl;
--   what is pending, in order   SELECT text FROM request JOIN record USING (n, space, id)
--                               WHERE space = :crawl AND state = 'pending' ORDER BY rank, arrival;
--   what is delayed, until when SELECT datetime(due / 1000000, 'unixepoch'), text FROM request JOIN record USING (n, space, id)
--                               WHERE space = :crawl AND state = 'delayed' ORDER BY due;
--   who works on what           SELECT node.id, text FROM request JOIN record USING (n, space, id) JOIN node ON node.number = request.node
--                               WHERE request.space = :crawl AND state = 'leased';
--   what failed, and why        SELECT reason, status, attempts, text FROM failure LEFT JOIN record USING (n, space)
--                               WHERE space = :crawl ORDER BY sequence;
-- Items and counters have spaces of their own, named by their keys (news:items, news:stats):
--   what was scraped            SELECT text FROM item WHERE space = (SELECT id FROM space WHERE name = 'news:items') ORDER BY n;
--   the counters                SELECT name, value FROM counter
--                               WHERE space = (SELECT id FROM space WHERE name = 'news:stats');
--
-- Instants are ms since 1970, durations ms, unless a comment says otherwise. Flags are 0 or 1.
-- Never write to the file while a crawl runs: counters and indexes of the crawl must agree with its rows.

-- A key that settings name, such as news:requests. Rows refer to a key by its id, in their column `space`. Clearing a key
-- sets its name to NULL. Its rows are deleted later in small steps (crawl/sweep.ts).
CREATE TABLE space (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  name     TEXT UNIQUE,                  -- NULL: cleared, its rows are to be deleted
  is_crawl INTEGER NOT NULL DEFAULT 0,   -- 1: a requests key, listed among the crawls of the folder
  entries  INTEGER NOT NULL DEFAULT 0    -- rows of the item, seed or bad_seed table, or counters, in this space
) STRICT;

CREATE INDEX space_garbage ON space (id) WHERE name IS NULL;

-- What the nodes of a crawl share and seldom change. Its JSON is that of the types in crawl/crawl-row.ts and frontier.ts.
CREATE TABLE crawl (
  space           INTEGER PRIMARY KEY,   -- of its requests key
  name            TEXT NOT NULL,         -- of that key, so that a repair can name the space again
  format          INTEGER NOT NULL,      -- data format in which the crawl is kept (data-format.ts)
  crawl_id        TEXT NOT NULL,         -- random: tells this crawl from one of the same name before a reset
  epoch           INTEGER NOT NULL,      -- random at first; raised whenever fingerprints are forgotten
  shape           TEXT,                  -- JSON of Shape; NULL until a first node joins
  queue_class     TEXT NOT NULL,         -- PriorityQueue, FifoQueue or LifoQueue: what rank and arrival are made of
  dupefilter      TEXT,                  -- JSON of Dupefilter; NULL when it was cleared alone
  control         TEXT NOT NULL DEFAULT 'running', -- running, paused or stopping
  repairing       TEXT,                  -- the control before a repair that is under way or broke off
  tunables        TEXT NOT NULL,         -- JSON of Tunables: delay, concurrency, limits, as the latest node has set them
  has_start       INTEGER NOT NULL DEFAULT 0, -- flag: the spider has start requests
  starts          TEXT NOT NULL DEFAULT '{}', -- JSON: for each set of arguments, start requests pushed so far, or "pushed"
  starts_again    INTEGER NOT NULL DEFAULT 0, -- flag: the dupefilter was emptied, so the next run pushes its start requests again
  start_owner     INTEGER,               -- node that runs start() of the spider; NULL: none did
  has_idle        INTEGER NOT NULL DEFAULT 0, -- flag: the nodes have hooks for an idle crawl
  run             TEXT,                  -- JSON of Run: its arguments, its budgets, why it closed; NULL before the first run
  began_at        INTEGER NOT NULL,      -- when the crawl began
  seen_since      INTEGER NOT NULL,      -- since when its dupefilter records fingerprints
  feeds           TEXT NOT NULL DEFAULT '[]', -- JSON: feeds with checkpoints, so that it is noticed when their rows vanish
  restoring       TEXT,                  -- id of the restore under way; '': one that cannot go on
  restore_applied INTEGER NOT NULL DEFAULT 0, -- entries of the backup that are in the crawl already
  restored_from   TEXT                   -- id of the restore that ended last
) STRICT;

-- The counters of a crawl; each transaction that changes any writes this row once.
CREATE TABLE tally (
  space          INTEGER PRIMARY KEY,
  pending        INTEGER NOT NULL,       -- requests by state; suspects are not among the pending ones here
  suspects       INTEGER NOT NULL,
  delayed        INTEGER NOT NULL,
  leased         INTEGER NOT NULL,
  failed         INTEGER NOT NULL,
  accepted       INTEGER NOT NULL,       -- pending + suspects + delayed + leased + failed + done + removed + lost
  done           INTEGER NOT NULL,
  removed        INTEGER NOT NULL,
  lost           INTEGER NOT NULL,       -- requests whose records vanished, and items that a repair missed in outboxes: it counts each as accepted
  seen_gone      INTEGER NOT NULL,       -- fingerprints that vanished since the dupefilter was last emptied
  failed_records INTEGER NOT NULL,       -- failed requests whose record is kept
  early_pages    INTEGER NOT NULL,       -- pages with rows in early_link
  domains        INTEGER NOT NULL,       -- rows of the domain table
  last_arrival   INTEGER NOT NULL,       -- µs since 1970, raised with every arrival
  tokens         INTEGER NOT NULL,       -- leases given so far
  volunteer      INTEGER NOT NULL,       -- number of the node that takes the next suspect; 0: none
  killed_at      INTEGER NOT NULL,       -- when a node last died that was not processing a suspect; 0: none
  killed_before  INTEGER NOT NULL,       -- the same of the one before it
  hungry         INTEGER NOT NULL,       -- number of the node that got nothing last; 0: none
  hungry_at      INTEGER NOT NULL,
  busy_at        INTEGER NOT NULL,       -- when something was last pending, delayed or leased
  stall_since    INTEGER NOT NULL,       -- when a lease first found that no lease can find the requests that are left; 0: it does
  stall_owner    INTEGER NOT NULL,       -- number of the node that rebuilds them from their records; 0: none
  stall_tried    INTEGER NOT NULL,       -- run_leased + 1 after the last rebuild of this run; 0: none
  stall_drains   INTEGER NOT NULL,       -- flag: nothing is leased until that, as records without requests were found
  records_looked INTEGER NOT NULL,       -- n of the record that was compared with its request last
  run_leased     INTEGER NOT NULL,       -- of this run: leases given, without those given back before a download
  run_items      INTEGER NOT NULL,
  run_errors     INTEGER NOT NULL,       -- exceptions in spider code
  run_failed     INTEGER NOT NULL,       -- requests that failed
  run_accepted   INTEGER NOT NULL,
  clock_at       INTEGER NOT NULL,       -- the last instant of the crawl's clock, see crawl/crawl-clock.ts
  clock_ahead    INTEGER NOT NULL,       -- ms that it was ahead of the machine's clock
  run_error_pages INTEGER NOT NULL,      -- done requests whose pages answered with an error
  run_good_pages INTEGER NOT NULL,       -- pages that were processed
  cookie_version INTEGER NOT NULL,       -- given last to a set of cookies
  cookie_floor   INTEGER NOT NULL,       -- removals of cookies up to this version may be forgotten
  stored_bytes   INTEGER NOT NULL        -- what the crawl took when it was last measured, under a memoryLimit
) STRICT;

-- A node that joined: one incarnation.
CREATE TABLE node (
  number           INTEGER PRIMARY KEY,  -- random, 32 bits; its name is id:number in hex
  space            INTEGER NOT NULL,
  id               TEXT NOT NULL,        -- label given with --node-id, or host-pid
  host             TEXT NOT NULL,
  pid              INTEGER NOT NULL,
  process_start    TEXT,                 -- tells the process from another that got the same pid; NULL: unknown
  started_at       INTEGER NOT NULL,
  beat_at          INTEGER NOT NULL,     -- last heartbeat
  settled          INTEGER NOT NULL,     -- requests that it settled as done or failed
  pages_per_second REAL NOT NULL,
  leased           INTEGER NOT NULL,     -- requests it holds
  is_dead          INTEGER NOT NULL      -- flag: declared dead, its leases wait to be given back
) STRICT;

CREATE INDEX node_of_space ON node (space);

-- A live request: pending, delayed, leased or failed. One that is done has no row.
CREATE TABLE request (
  n          INTEGER PRIMARY KEY,
  space      INTEGER NOT NULL,
  id         BLOB NOT NULL,              -- 20 bytes
  state      TEXT NOT NULL,              -- pending, suspect (pending, but crashed a node), delayed, leased, failed
  domain     TEXT NOT NULL,              -- politeness key
  priority   INTEGER NOT NULL,           -- higher goes first
  rank       INTEGER NOT NULL,           -- order within the queue: by rank, then arrival. PriorityQueue: -priority, else 0
  arrival    INTEGER NOT NULL,           -- µs since 1970, unique in the crawl, rises with each; LifoQueue: negative
  due        INTEGER,                    -- delayed: µs since 1970
  crashes    INTEGER NOT NULL,           -- nodes that died while they processed it
  node       INTEGER,                    -- leased: number of the node that holds it
  token      INTEGER,                    -- leased: number of this lease, raised with each
  leased_at  INTEGER
) STRICT;

CREATE UNIQUE INDEX request_id ON request (space, id);
CREATE INDEX request_pending ON request (space, domain, rank, arrival) WHERE state = 'pending';
CREATE INDEX request_suspect ON request (space, crashes, rank, arrival) WHERE state = 'suspect';
CREATE INDEX request_delayed ON request (space, due) WHERE state = 'delayed';
CREATE INDEX request_leased ON request (node) WHERE state = 'leased';

-- What a request is, apart from it, so that the rows above stay small. A repair rebuilds those from these.
CREATE TABLE record (
  n       INTEGER PRIMARY KEY,           -- of the request; no row for a failed request beyond failedLimit
  space   INTEGER NOT NULL,              -- as in request, likewise its id
  id      BLOB NOT NULL,
  arrived INTEGER NOT NULL,              -- its arrival, never negative
  due_at  INTEGER,                       -- its due
  text    TEXT NOT NULL                  -- JSON of RequestRecord
) STRICT;

-- The failed list.
CREATE TABLE failure (
  sequence  INTEGER PRIMARY KEY,         -- order in the list
  n         INTEGER NOT NULL UNIQUE,     -- of the request
  space     INTEGER NOT NULL,
  reason    TEXT NOT NULL,
  status    INTEGER,                     -- HTTP status; NULL: no answer
  attempts  INTEGER NOT NULL,
  node      TEXT NOT NULL,               -- name of the incarnation
  failed_at INTEGER NOT NULL,
  detail    TEXT
) STRICT;

CREATE INDEX failure_of_space ON failure (space);

-- The last pages whose statuses were ignored (IgnoredPage). They are done, so they have no request.
CREATE TABLE ignored_page (
  sequence INTEGER PRIMARY KEY,          -- order in the list
  space    INTEGER NOT NULL,
  status   INTEGER NOT NULL,             -- HTTP status
  url      TEXT NOT NULL,
  referer  TEXT                          -- the Referer header of its request; NULL: none
) STRICT;

CREATE INDEX ignored_page_of_space ON ignored_page (space);

-- A domain that has pending or leased requests, a running delay timer, or a delay of its own.
CREATE TABLE domain (
  space         INTEGER NOT NULL,
  name          TEXT NOT NULL,
  state         TEXT NOT NULL,           -- full (concurrency), waiting (its delay timer runs), ready, idle (nothing pending)
  until         INTEGER,                 -- waiting: when its delay timer runs out
  head_rank     INTEGER,                 -- order of its first pending request; NULL: nothing pending
  head_arrival    INTEGER,
  active        INTEGER NOT NULL,        -- leased requests
  next_at       INTEGER NOT NULL,        -- earliest next lease by its delay (the delay timer)
  blocked_until INTEGER NOT NULL,        -- earliest next lease by a pause
  paused_by     TEXT,                    -- who asked for that pause: retry_after, or autothrottle where the site did not answer; NULL: its delay
  last_at       INTEGER NOT NULL,        -- last lease; 0: never
  delay_setting REAL,                    -- NULL: that of the tunables applies
  delay_robots  REAL NOT NULL,
  delay_auto    REAL NOT NULL,           -- by AutoThrottle; 0: no answer yet
  PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX domain_ready ON domain (space, head_rank, head_arrival) WHERE state = 'ready';
CREATE INDEX domain_waiting ON domain (space, until) WHERE state = 'waiting';

-- What is known of the robots.txt of an origin (src/frontier/robots/robots-state.ts); no row: nothing.
CREATE TABLE robots (
  space      INTEGER NOT NULL,           -- of the requests key
  origin     TEXT NOT NULL,              -- https://example.com
  state      TEXT NOT NULL,              -- claimed, rules, waiting (for another fetch), unreachable
  text       TEXT,                       -- rules: of the robots.txt; unreachable: why
  reason     TEXT,                       -- unreachable: of the last attempt, such as dns_not_found
  until      INTEGER NOT NULL,           -- rules, unreachable: valid until; waiting: not fetched before; claimed: 0
  kept_until INTEGER NOT NULL,           -- the row is not needed from then on
  node       INTEGER NOT NULL,           -- the last claim: number of its node
  claim      INTEGER NOT NULL,           -- and a number that tells it from other ones
  claimed_at INTEGER NOT NULL,
  url        TEXT,                       -- where a fetch goes on after redirects; NULL at the start
  hops       INTEGER NOT NULL,           -- redirects followed so far
  failures   INTEGER NOT NULL,           -- fetches in a row that failed
  delay_ms   INTEGER NOT NULL,           -- Crawl-delay of the last rules; 0: none
  rest_until INTEGER NOT NULL,           -- until when the domain rests because of this row; 0: it does not
  UNIQUE (space, origin)
) STRICT;

CREATE INDEX robots_kept ON robots (space, kept_until);

-- Links with dontFilter that a page pushed before its settle, while its request is live. Each page has a space of its own, named
-- by the requests key and its id.
CREATE TABLE early_link (
  space INTEGER NOT NULL,
  id    BLOB NOT NULL,                   -- of the link's request
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;

-- A dupefilter as a whole. Its space is that of the dupefilter key, which crawls may share. The rest is its class's:
CREATE TABLE dupefilter (
  space  INTEGER PRIMARY KEY,
  choice TEXT NOT NULL,                  -- JSON of Dupefilter: class and parameters
  count  INTEGER NOT NULL                -- fingerprints recorded
) STRICT;

CREATE TABLE seen (                      -- RFPDupeFilter
  space INTEGER NOT NULL,
  id    BLOB NOT NULL,                   -- fingerprint, 20 bytes
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE seen_timed (                -- TimedRFPDupeFilter
  space INTEGER NOT NULL,
  id    BLOB NOT NULL,
  until INTEGER NOT NULL,                -- when it is forgotten; 0: never
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX seen_timed_until ON seen_timed (space, until) WHERE until > 0;

CREATE TABLE seen_state (                -- StateDupeFilter: the last thing that happened to each request
  space    INTEGER NOT NULL,
  id       BLOB NOT NULL,
  state    TEXT NOT NULL,                -- pending, leased, delayed, done or failed
  at       INTEGER NOT NULL,
  status   INTEGER,                      -- HTTP status of the last attempt
  attempts INTEGER NOT NULL,
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE seen_compact (              -- CompactDupeFilter
  space INTEGER NOT NULL,
  hash  INTEGER NOT NULL,                -- first 64 bits of the fingerprint, signed
  PRIMARY KEY (space, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE seen_bloom (                -- BloomDupeFilter; a block that has no bit set has no row
  space INTEGER NOT NULL,
  slice INTEGER NOT NULL,                -- from 1
  block INTEGER NOT NULL,                -- from 0
  bits  BLOB NOT NULL,                   -- 4,000 bytes, which fit a page of the file
  UNIQUE (space, slice, block)
) STRICT;

-- The cookies of one jar and one domain, which nodes read as a whole.
CREATE TABLE cookie_set (
  n       INTEGER PRIMARY KEY,
  space   INTEGER NOT NULL,              -- of the requests key
  jar     TEXT NOT NULL,                 -- meta.cookiejar; '': the default jar
  domain  TEXT NOT NULL,                 -- of the cookies
  version INTEGER NOT NULL,              -- of the last change; rises with every change of the crawl's cookies
  count   INTEGER NOT NULL,              -- 0: they were removed, which nodes may not know yet
  cookies TEXT NOT NULL,                 -- JSON: [[path, name, flags=value, expires at (0: never)], …], oldest first
  UNIQUE (space, jar, domain)
) STRICT;

CREATE INDEX cookie_set_version ON cookie_set (space, version);
CREATE INDEX cookie_set_removed ON cookie_set (space, version) WHERE count = 0;

-- A cookie jar that has cookies.
CREATE TABLE cookie_jar (
  space   INTEGER NOT NULL,
  name    TEXT NOT NULL,
  version INTEGER NOT NULL,              -- of the last change of its cookies
  count   INTEGER NOT NULL,              -- cookies of all its domains
  PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX cookie_jar_version ON cookie_jar (space, version);

-- What recognizes a page at its next download (src/http/validators.ts): of pages that may be downloaded again.
CREATE TABLE validator (
  space INTEGER NOT NULL,                -- of the requests key
  id    BLOB NOT NULL,                   -- fingerprint, 20 bytes
  epoch INTEGER NOT NULL,                -- of the commit; void under another one
  text  TEXT NOT NULL,                   -- JSON: [ETag, Last-Modified]
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;

-- How many requests of a domain were accepted since the crawl began or last finished, while pagesPerDomain of the tunables limits them.
CREATE TABLE domain_accepted (
  space  INTEGER NOT NULL,               -- of the requests key
  domain TEXT NOT NULL,
  accepted INTEGER NOT NULL,
  PRIMARY KEY (space, domain)
) STRICT, WITHOUT ROWID;

-- What nodes report, as texts by name (src/frontier/telemetry/stored-telemetry.ts): their state, the history, the events.
CREATE TABLE telemetry (
  space INTEGER NOT NULL,                -- of the requests key with :~telemetry behind it
  name  TEXT NOT NULL,
  text  TEXT NOT NULL,
  PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;

-- What nodes have reported of each domain.
CREATE TABLE domain_stats (
  space       INTEGER NOT NULL,          -- as in telemetry
  domain      TEXT NOT NULL,             -- '': domains that reports did not name
  reported_at INTEGER NOT NULL,          -- last
  counts      TEXT NOT NULL,             -- JSON: amounts by name (src/frontier/telemetry/domain-counts.ts)
  PRIMARY KEY (space, domain)
) STRICT, WITHOUT ROWID;

CREATE INDEX domain_stats_recent ON domain_stats (space, reported_at);

-- External seeds, in the order they came.
CREATE TABLE seed (
  n      INTEGER PRIMARY KEY,
  space  INTEGER NOT NULL,               -- of a start_urls key
  value  BLOB NOT NULL,
  digest BLOB NOT NULL                   -- first 12 bytes of its SHA-1, to find it by
) STRICT;

CREATE INDEX seed_of_space ON seed (space);
CREATE INDEX seed_digest ON seed (space, digest);

-- Seeds that could not be used.
CREATE TABLE bad_seed (
  n     INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,                -- of a start_urls key with :bad behind it
  entry TEXT NOT NULL                    -- JSON of BadSeed
) STRICT;

CREATE INDEX bad_seed_of_space ON bad_seed (space);

-- Items that were scraped, in the order they were committed.
CREATE TABLE item (
  n     INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,                -- of the items key
  text  TEXT NOT NULL                    -- JSON
) STRICT;

CREATE INDEX item_of_space ON item (space);

-- Statistics, by Scrapy's names. Those of the user's own code begin with custom/ and may also be fractions or texts.
CREATE TABLE counter (
  space INTEGER NOT NULL,                -- of the stats key
  name  TEXT NOT NULL,
  value ANY NOT NULL,                    -- of a counter a whole number
  PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;

-- A file that committed items are written to.
CREATE TABLE feed (
  space          INTEGER NOT NULL,       -- of the requests key with :~feeds behind it
  feed           TEXT NOT NULL,          -- id: hash of host and path, or pipeline- and a hash
  host           TEXT NOT NULL DEFAULT '',
  path           TEXT NOT NULL DEFAULT '',
  pid            INTEGER NOT NULL DEFAULT 0, -- of its last writer
  format         TEXT,                   -- what the file is written in
  owner          TEXT,                   -- random, of its writer; NULL: nobody writes
  seen_at        INTEGER NOT NULL DEFAULT 0, -- last sign of life of its writer
  stale_ms       REAL NOT NULL DEFAULT 0, -- without one for so long the writer counts as dead
  last           INTEGER NOT NULL DEFAULT 0, -- sequence of the last committed item
  written        INTEGER NOT NULL DEFAULT 0, -- checkpoint: sequence of the last item that is safely in the file
  written_bytes  INTEGER,                -- checkpoint: length of the file; NULL: there is no checkpoint yet
  written_header TEXT,                   -- checkpoint: CSV header, or what else the writer needs to go on
  written_end    TEXT,                   -- checkpoint: digest of the last bytes before it
  change         TEXT,                   -- JSON of FeedChange: the file is not as the crawl has left it; accepted: somebody goes on without
  is_exporting   INTEGER NOT NULL DEFAULT 0, -- flag: an export to it has begun and not ended
  forgotten_at   INTEGER,                -- value of last when its crawl was forgotten; NULL: it was not
  overwrites_at  INTEGER,                -- value of written when a writer came that overwrites the file
  PRIMARY KEY (space, feed)
) STRICT, WITHOUT ROWID;

-- Committed items that wait to be written to a feed.
CREATE TABLE outbox (
  n        INTEGER PRIMARY KEY,
  space    INTEGER NOT NULL,             -- as in feed
  feed     TEXT NOT NULL,
  sequence INTEGER NOT NULL,             -- from 1, without a gap
  text     TEXT NOT NULL,                -- JSON
  UNIQUE (space, feed, sequence)
) STRICT;
