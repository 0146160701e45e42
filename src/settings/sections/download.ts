/** Settings: politeness, downloads, retries, redirects and limits on links. */

import * as z from 'zod';
import { FIRST_CONCURRENCY } from '../first-tunables.js';
import { choice, decimal, flag, integer, list, map, optionalText, parseNumber, text } from '../kinds.js';

const httpCodes = z.int().min(100).max(599);
/** The store accepts no longer delay. */
const MAX_DELAY_S = 86_400;

export const downloadSettings = {
  /** Requests in flight on one node. Unit: requests. Default: 16. */
  CONCURRENT_REQUESTS: integer({ default: 16, min: 1, max: 10_000, unit: 'requests' }),
  /** Requests in flight to one domain, over all nodes. Unit: requests. Default: 8. */
  CONCURRENT_REQUESTS_PER_DOMAIN: integer({
    default: FIRST_CONCURRENCY,
    min: 1,
    max: 10_000,
    unit: 'requests',
  }),
  /** Time between two requests to one domain, over all nodes. Unit: seconds. Default: 0. */
  DOWNLOAD_DELAY: decimal({ default: 0, max: 86_400, unit: 'seconds' }),
  /** Choose each delay at random between 1 and 1.5 times DOWNLOAD_DELAY. Default: true. */
  RANDOMIZE_DOWNLOAD_DELAY: flag({ default: true }),
  /**
   * What counts as one domain: each host (and port), or all hosts of a registered domain. Default: "host".
   */
  DOMAIN_KEY: choice({ of: ['host', 'registered'], default: 'host' }),
  /**
   * Delay (seconds), concurrency and randomization of single domains, for all nodes together. A domain is a
   * host, with its port if that is not the default of the scheme, or the name of a meta.download_slot. A
   * field that is absent has the value of DOWNLOAD_DELAY, CONCURRENT_REQUESTS_PER_DOMAIN or
   * RANDOMIZE_DOWNLOAD_DELAY. Default: {}.
   */
  DOWNLOAD_SLOTS: map(
    z.strictObject({
      delay: z.number().min(0).max(MAX_DELAY_S).optional(),
      concurrency: z.int().min(1).max(1_000_000).optional(),
      randomize_delay: z.boolean().optional(),
    }),
    {
      default: {},
      key: z.string().regex(/^[^/]+$/, 'not a domain, such as shop.example or shop.example:8080'),
      expects: 'a map of domains to { delay, concurrency, randomize_delay }',
    },
  ),
  /** Adapt the delay of each domain to its latency, for all nodes together. Default: false. */
  AUTOTHROTTLE_ENABLED: flag({ default: false }),
  /** AutoThrottle: the delay of a domain before its first response. Unit: seconds. Default: 5. */
  AUTOTHROTTLE_START_DELAY: decimal({ default: 5, unit: 'seconds' }),
  /** AutoThrottle: the longest delay. Unit: seconds. Default: 60. */
  AUTOTHROTTLE_MAX_DELAY: decimal({ default: 60, unit: 'seconds' }),
  /**
   * AutoThrottle: how many requests of all nodes should be in flight to one domain, on average. Unit:
   * requests. Default: 1.
   */
  AUTOTHROTTLE_TARGET_CONCURRENCY: decimal({ default: 1, min: 0.01, unit: 'requests' }),
  /** AutoThrottle: log the delay and the latency of every response. Default: false. */
  AUTOTHROTTLE_DEBUG: flag({ default: false }),
  /** Time limit of one download, from the connection to the end of the body. Unit: seconds. Default: 180. */
  DOWNLOAD_TIMEOUT: decimal({ default: 180, min: 0.001, unit: 'seconds' }),
  /** Keep the addresses of host names in memory, each for a minute. Default: true. */
  DNSCACHE_ENABLED: flag({ default: true }),
  /**
   * Host names whose addresses a node keeps. Beyond it, the name used least recently is dropped. Unit: names.
   * Default: 10000.
   */
  DNSCACHE_SIZE: integer({ default: 10_000, min: 1, unit: 'names' }),
  /** Longest time to resolve a host name. Unit: seconds. Default: 60. */
  DNS_TIMEOUT: decimal({ default: 60, min: 0.001, unit: 'seconds' }),
  /**
   * Largest body, as received or decompressed. A larger one fails the download as too_large. 0 is no limit.
   * Unit: bytes. Default: 67108864.
   */
  DOWNLOAD_MAXSIZE: integer({ default: 67_108_864, unit: 'bytes' }),
  /**
   * Elements, attributes, texts and comments that the body of a page may be parsed into for css(), xpath()
   * and $. A page with more fails as too_complex. Values of JSON, fields of CSV and tags of sitemaps may be
   * four times as many. 0 is no limit. Unit: nodes. Default: 750000.
   */
  DOWNLOAD_MAX_NODES: integer({ default: 750_000, unit: 'nodes' }),
  /**
   * Memory of a node for bodies, until their pages end. Where they may need more, the oldest download
   * continues and the others pause. A page with a large body waits before its callback until there is room
   * for its tree. 0 is no limit. Unit: bytes. Default: 134217728.
   */
  DOWNLOAD_BUFFER_LIMIT: integer({ default: 134_217_728, unit: 'bytes' }),
  /**
   * A body that arrives more slowly than this for 30 seconds fails the download as too_slow. 0 is no minimum.
   * The default is far below any real connection, so it only affects servers that keep a connection open
   * without sending. Unit: bytes per second. Default: 100.
   */
  DOWNLOAD_MIN_RATE: integer({ default: 100, unit: 'bytes per second' }),
  /**
   * Fail and retry a download whose body ends too early. When false, the callback gets the part that was
   * received, and response.flags contains dataloss. Default: true.
   */
  DOWNLOAD_FAIL_ON_DATALOSS: flag({ default: true }),
  /** A larger body is logged as a warning. 0 is never. Unit: bytes. Default: 33554432. */
  DOWNLOAD_WARNSIZE: integer({ default: 33_554_432, unit: 'bytes' }),
  /**
   * The User-Agent header. Name your crawler and a contact address for the operators of a site. An empty text sends
   * none. Default: "crawlnode".
   */
  USER_AGENT: text({ default: 'crawlnode', pattern: /^/, expects: 'a text' }),
  /**
   * Headers of every request, unless the request sets them itself. Default:
   * {"Accept":"text/html,application/xhtml+xml,application/xml;q=0.9,*\/*;q=0.8","Accept-Language":"en"}.
   */
  DEFAULT_REQUEST_HEADERS: map(z.union([z.string(), z.null()]), {
    default: {
      Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'Accept-Language': 'en',
    } as Record<string, string | null>,
    expects: 'a map of header names to texts (null leaves a header out)',
  }),
  /**
   * Send the Referer header with links. It is stored with each link, so pending requests need more memory.
   * Default: false.
   */
  REFERER_ENABLED: flag({ default: false }),
  /**
   * What the Referer header contains with REFERER_ENABLED. The values are the names of the W3C Referrer
   * Policy. Default: "no-referrer-when-downgrade".
   */
  REFERRER_POLICY: choice({
    of: [
      'no-referrer-when-downgrade',
      'no-referrer',
      'same-origin',
      'origin',
      'strict-origin',
      'origin-when-cross-origin',
      'strict-origin-when-cross-origin',
      'unsafe-url',
    ],
    default: 'no-referrer-when-downgrade',
  }),
  /**
   * Let every request connect to loopback, private and link-local addresses. When false, only startUrls, the
   * seeds of crawlnode seed, and links and redirects of their pages at private addresses may. Default: false.
   */
  ALLOW_PRIVATE_ADDRESSES: flag({ default: false }),
  /** Obey the robots.txt of each site (RFC 9309). Default: true. */
  ROBOTSTXT_OBEY: flag({ default: true }),
  /**
   * Name to look for in robots.txt; null stands for the request's own User-Agent, else for USER_AGENT.
   * Default: null.
   */
  ROBOTSTXT_USER_AGENT: optionalText(),
  /**
   * A longer Crawl-delay of robots.txt is shortened to this. 0 ignores Crawl-delay. Unit: seconds. Default:
   * 60.
   */
  ROBOTSTXT_CRAWL_DELAY_MAX: decimal({ default: 60, max: 86_400, unit: 'seconds' }),
  /** Retry requests that failed for a temporary reason. Default: true. */
  RETRY_ENABLED: flag({ default: true }),
  /** Retries of one request, after the first attempt. Unit: retries. Default: 2. */
  RETRY_TIMES: integer({ default: 2, max: 1000, unit: 'retries' }),
  /** Statuses that are retried. Default: [500,502,503,504,522,524,408,429]. */
  RETRY_HTTP_CODES: list(httpCodes, {
    default: [500, 502, 503, 504, 522, 524, 408, 429],
    expects: 'a list of status codes',
    item: parseNumber,
  }),
  /** Added to the priority of a request at each retry. Default: -1. */
  RETRY_PRIORITY_ADJUST: integer({ default: -1, min: -2_147_483_648, max: 2_147_483_647 }),
  /**
   * Delay before the first retry. It doubles with each further retry, and is varied at random. Unit: seconds.
   * Default: 1.
   */
  RETRY_BACKOFF: decimal({ default: 1, unit: 'seconds' }),
  /** Longest delay before a retry. Unit: seconds. Default: 60. */
  RETRY_BACKOFF_MAX: decimal({ default: 60, unit: 'seconds' }),
  /** Follow redirects: each hop is a new request. Default: true. */
  REDIRECT_ENABLED: flag({ default: true }),
  /** A longer Retry-After of a site is shortened to this. Unit: seconds. Default: 3600. */
  RETRY_AFTER_MAX: integer({ default: 3600, unit: 'seconds' }),
  /** Added to the priority of a request at each redirect. Default: 2. */
  REDIRECT_PRIORITY_ADJUST: integer({ default: 2, min: -2_147_483_648, max: 2_147_483_647 }),
  /** Maximum number of redirects of one request. Unit: hops. Default: 20. */
  REDIRECT_MAX_TIMES: integer({ default: 20, max: 1000, unit: 'hops' }),
  /**
   * Follow <meta http-equiv="refresh"> like a redirect. A page that refreshes to itself is processed.
   * Default: true.
   */
  METAREFRESH_ENABLED: flag({ default: true }),
  /** Elements in which a meta refresh is not followed. Default: ["noscript"]. */
  METAREFRESH_IGNORE_TAGS: list(z.string().regex(/^[a-z][a-z0-9-]*$/i), {
    default: ['noscript'],
    expects: 'a list of names of HTML elements',
  }),
  /** A meta refresh with this delay or a longer one is not followed. Unit: seconds. Default: 100. */
  METAREFRESH_MAXDELAY: integer({ default: 100, unit: 'seconds' }),
  /**
   * Ask for pages that are crawled again (refresh rules, or a DUPEFILTER_CLASS whose fingerprints expire)
   * with the ETag and Last-Modified of their last download. One that has not changed (304) is done without
   * its callback. Default: true.
   */
  CONDITIONAL_REQUESTS: flag({ default: true }),
  /** Statuses outside 200-299 that reach the callback. Default: []. */
  HTTPERROR_ALLOWED_CODES: list(httpCodes, {
    default: [],
    expects: 'a list of status codes',
    item: parseNumber,
  }),
  /** Every status reaches the callback. Default: false. */
  HTTPERROR_ALLOW_ALL: flag({ default: false }),
  /** Maximum number of links between a seed and a page. 0 is no limit. Unit: links. Default: 0. */
  DEPTH_LIMIT: integer({ default: 0, unit: 'links' }),
  /** Subtracted from the priority of a request, once for each level of its depth. Default: 0. */
  DEPTH_PRIORITY: integer({ default: 0, min: -1_000_000, max: 1_000_000 }),
  /**
   * A link whose path has more segments than this is not followed. 0 is no limit. Unit: segments. Default: 0.
   */
  URL_PATH_DEPTH_LIMIT: integer({ default: 0, unit: 'segments' }),
  /**
   * A link whose path has the same segment more often than this is not followed: /a/b/a/b/a/b has three times
   * the segment a. 0 is no limit. Unit: times. Default: 0.
   */
  URL_REPEATED_SEGMENTS_LIMIT: integer({ default: 0, unit: 'times' }),
  /**
   * Links to a domain are dropped once so many of its requests were accepted, on all nodes, since the crawl
   * began or last finished; 0 is no limit. Start requests and seeds count, and are never dropped. Unit:
   * pages. Default: 0.
   */
  URL_PAGES_PER_DOMAIN_LIMIT: integer({ default: 0, unit: 'pages' }),
  /** A link with a longer URL is not followed. 0 is no limit. Unit: characters. Default: 2083. */
  URLLENGTH_LIMIT: integer({ default: 2083, unit: 'characters' }),
};
