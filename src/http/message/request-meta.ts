/**
 * The keys of `meta` that change how one request is processed, with Scrapy's names and units. They are checked where a
 * request is created. All other keys belong to the spider.
 */
import { InvalidRequestError, messageOf } from '../../errors.js';
import { PROXY_FORMS, parseProxy } from '../../settings/proxy-url.js';
import { MAX_JAR_NAME } from '../cookies/stored-cookie.js';

/** The keys that change how a request is processed. */
interface OwnMeta {
  /** DOWNLOAD_TIMEOUT of this request, in seconds. */
  download_timeout?: number | null;
  /** DOWNLOAD_MAXSIZE of this request, in bytes; 0 is no limit. */
  download_maxsize?: number | null;
  /** DOWNLOAD_FAIL_ON_DATALOSS of this request. */
  download_fail_on_dataloss?: boolean | null;
  /** The name under which delay and concurrency are counted, instead of the domain. */
  download_slot?: string | null;
  /** RETRY_TIMES of this request. */
  max_retry_times?: number | null;
  /** True: the request is not retried. */
  dont_retry?: boolean | null;
  /** True: redirects are not followed, nor is a meta refresh. */
  dont_redirect?: boolean | null;
  /** Statuses that reach the callback. */
  handle_httpstatus_list?: readonly number[] | null;
  /** True: every status reaches the callback. */
  handle_httpstatus_all?: boolean | null;
  /** The cookie jar of the request; the default one unless given. Kept apart from all others. */
  cookiejar?: string | number | boolean | null;
  /** True: no cookie jar is used or changed; only the request's own cookies are sent. */
  dont_merge_cookies?: boolean | null;
  /** True: the request may leave `allowedDomains`. */
  allow_offsite?: boolean | null;
  /** True: the latency of this request does not change the delay of AutoThrottle. */
  autothrottle_dont_adjust_delay?: boolean | null;
  /** True: robots.txt is not obeyed for this request. */
  dont_obey_robotstxt?: boolean | null;
  /** True: the HTTP cache (HTTPCACHE_ENABLED) is not used for this request. */
  dont_cache?: boolean | null;
  /** The proxy of this request (`withProxy`); null connects directly. */
  proxy?: string | null;
}

/** `downloadTimeout` for `download_timeout` and the like, which the compiler refuses too. */
type OtherSpellings = {
  [K in keyof OwnMeta as K extends `${string}_${string}` ? CamelCase<K> : never]?: `use ${K}`;
};
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** Data that a request passes to its callback. It is JSON, since another node may process the request. */
export interface Meta extends OwnMeta, OtherSpellings {
  // biome-ignore lint/suspicious/noExplicitAny: the spider knows what it put there.
  [key: string]: any;
}

interface Rule {
  readonly isValid: (value: unknown) => boolean;
  /** Completes "it must be". */
  readonly expects: string;
}

/** Nearly three hours. More is a number of milliseconds. */
const MAX_TIMEOUT_S = 9_999;
const MAX_RETRIES = 1_000;
const MAX_SLOT_CHARS = 255;
/** Longer than every key here. */
const MAX_KEY_CHARS = 50;

const flag: Rule = { isValid: (value) => typeof value === 'boolean', expects: 'true or false' };

const rules: ReadonlyMap<string, Rule> = new Map([
  [
    'download_timeout',
    {
      isValid: (value) => typeof value === 'number' && value >= 0.001 && value <= MAX_TIMEOUT_S,
      expects: `a number of seconds from 0.001 to ${MAX_TIMEOUT_S}, and not of milliseconds`,
    },
  ],
  ['download_maxsize', { isValid: isCount, expects: 'a whole number of bytes, 0 for no limit' }],
  ['download_fail_on_dataloss', flag],
  [
    'download_slot',
    {
      isValid: (value) =>
        typeof value === 'string' && /^[^\x00-\x1f\x7f]+$/.test(value) && value.length <= MAX_SLOT_CHARS,
      expects: `a text of 1 to ${MAX_SLOT_CHARS} characters without control characters`,
    },
  ],
  [
    'max_retry_times',
    {
      isValid: (value) => isCount(value) && value <= MAX_RETRIES,
      expects: `a whole number from 0 to ${MAX_RETRIES}`,
    },
  ],
  ['dont_retry', flag],
  ['dont_redirect', flag],
  [
    'handle_httpstatus_list',
    {
      isValid: (value) =>
        Array.isArray(value) && value.every((status) => isCount(status) && status >= 100 && status <= 999),
      expects: 'a list of HTTP statuses, such as [404, 410]',
    },
  ],
  ['handle_httpstatus_all', flag],
  [
    'cookiejar',
    {
      isValid: (value) =>
        ['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= MAX_JAR_NAME,
      expects: `a text of at most ${MAX_JAR_NAME} characters, or a number`,
    },
  ],
  ['dont_merge_cookies', flag],
  ['allow_offsite', flag],
  ['autothrottle_dont_adjust_delay', flag],
  ['dont_obey_robotstxt', flag],
  ['dont_cache', flag],
] as const satisfies readonly (readonly [keyof Meta, Rule])[]);

/** Keys that change a request in Scrapy and would have no effect here. */
const unsupported: ReadonlyMap<string, string> = new Map([
  ['bindaddress', 'crawlnode cannot choose the local address of a connection'],
  ['referrer_policy', 'use the setting REFERRER_POLICY, or the header Referer of this request'],
  ['ftp_user', 'crawlnode does not request ftp URLs'],
  ['ftp_password', 'crawlnode does not request ftp URLs'],
  ['ftp_local_filename', 'crawlnode does not request ftp URLs'],
]);

/** The keys of several words by their letters alone, to find `downloadTimeout`. */
const keyByLetters = new Map([...rules.keys()].map((key) => [key.replaceAll('_', ''), key]));

/**
 * Check the keys of `meta` that crawlnode reads. Null counts as not given.
 * @throws InvalidRequestError naming the key, its value and what it must be; for another spelling of such a key; and for a
 *   key of Scrapy that would have no effect
 */
export function checkMeta(meta: Readonly<Record<string, unknown>>): void {
  for (const key in meta) {
    const rule = rules.get(key);
    const value = meta[key];
    if (rule === undefined) {
      refuseWithoutEffect(key);
      continue;
    }
    if (value === null || rule.isValid(value)) continue;
    throw new InvalidRequestError(
      `meta.${key} is ${JSON.stringify(value).slice(0, 100)}; it must be ${rule.expects}.`,
    );
  }
}

function refuseWithoutEffect(key: string): void {
  const why = unsupported.get(key);
  if (why !== undefined) throw new InvalidRequestError(`meta.${key} has no effect: ${why}.`);
  if (key.length > MAX_KEY_CHARS) return;
  const meant = keyByLetters.get(key.replaceAll('_', '').toLowerCase());
  if (meant !== undefined) throw new InvalidRequestError(`meta.${key} has no effect: use meta.${meant}.`);
}

/** The name of the cookie jar that `meta` gives; null for the default jar. */
export function cookieJarOf({ cookiejar }: Meta): string | null {
  return cookiejar === undefined || cookiejar === null ? null : String(cookiejar);
}

/**
 * The meta of a request with its proxy in one spelling. Null stands for a direct connection.
 * @param proxy the option of the request, which replaces `meta.proxy`; undefined when it is not given.
 * @throws InvalidRequestError without the text of the proxy, which may hold a password.
 */
export function withProxy(meta: Meta, proxy: string | null | undefined): Meta {
  const named: unknown = proxy === undefined ? meta.proxy : proxy;
  if (named === null) return { ...meta, proxy: null };
  try {
    return { ...meta, proxy: parseProxy(named as string).url };
  } catch (error) {
    const reason = typeof named === 'string' ? messageOf(error) : `it is ${typeof named}, not text`;
    throw new InvalidRequestError(`meta.proxy is not a proxy such as ${PROXY_FORMS}: ${reason}.`);
  }
}

/**
 * A request without the proxy it names, which a stranger may have written. `meta.proxy_ignored` is set, for the counter and
 * for the spider.
 */
export function withoutProxy(meta: Meta): Meta {
  const { proxy: _proxy, ...rest } = meta;
  return { ...rest, proxy_ignored: true };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
