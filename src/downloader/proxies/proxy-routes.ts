/** Which proxies may serve a request: the one it names, those of the settings, or none. */
import { domainOf } from '../../http/url/domain.js';
import { type ProxyAddress, parseProxy } from '../../settings/proxy-url.js';
import { DownloadError } from '../download-error.js';
import type { DownloadRequest } from '../wire-request.js';
import { exemptionOf, isLoopback } from './no-proxy.js';
import { ProxyPool } from './proxy-pool.js';

/** The settings of proxies; addresses as `parseProxy` reads them. */
export interface ProxyOptions {
  /** HTTPPROXY_ENABLED. */
  readonly enabled: boolean;
  /** PROXIES. */
  readonly pool: readonly string[];
  /** PROXY_SELECTION. */
  readonly selection: 'rotate' | 'domain' | 'cookiejar';
  /** PROXY_REST. */
  readonly restMs: number;
  /** HTTP_PROXY and HTTPS_PROXY. */
  readonly http: string | null;
  readonly https: string | null;
  /** NO_PROXY. */
  readonly noProxy: string | null;
  /** DOMAIN_KEY: what counts as one domain. */
  readonly domainKey: 'host' | 'registered';
}

/** Only requests that name a proxy use one. */
export const noProxies: ProxyOptions = {
  enabled: true,
  pool: [],
  selection: 'rotate',
  restMs: 30_000,
  http: null,
  https: null,
  noProxy: null,
  domainKey: 'host',
};

export interface ProxyRoute {
  readonly pool: ProxyPool;
  /** Requests of the same key use the same proxy of the pool; null for any. */
  readonly key: string | null;
}

export class ProxyRoutes {
  readonly #options: ProxyOptions;
  readonly #isExempt: (url: URL) => boolean;
  readonly #pool: ProxyPool | null;
  readonly #http: ProxyPool | null;
  readonly #https: ProxyPool | null;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#isExempt = exemptionOf(options.noProxy);
    const poolOf = (urls: readonly string[]) => {
      const proxies = [...new Set(urls)].map(parseProxy);
      return proxies.length === 0
        ? null
        : new ProxyPool(proxies, options.restMs, Math.floor(Math.random() * proxies.length));
    };
    this.#pool = poolOf(options.pool);
    this.#http = poolOf(options.http === null ? [] : [options.http]);
    this.#https = options.https === options.http ? this.#http : poolOf(options.https ? [options.https] : []);
  }

  /**
   * The request's own proxy goes before PROXIES, and these before HTTP_PROXY and HTTPS_PROXY.
   * @returns null for a direct connection. @throws DownloadError `bad_request` for a proxy that is none.
   */
  of(request: DownloadRequest): ProxyRoute | null {
    const named = request.meta?.proxy;
    if (!this.#options.enabled || named === null) return null;
    if (named !== undefined) return { pool: new ProxyPool([namedProxy(named)], 0), key: null };
    if (this.#pool === null && this.#http === null && this.#https === null) return null;
    const url = new URL(request.url);
    if (this.#isExempt(url)) return null;
    if (this.#pool !== null) return { pool: this.#pool, key: this.#keyOf(request) };
    const pool = url.protocol === 'https:' ? this.#https : this.#http;
    return pool === null || isLoopback(url) ? null : { pool, key: null };
  }

  #keyOf({ url, meta }: DownloadRequest): string | null {
    const { selection, domainKey } = this.#options;
    if (selection === 'rotate') return null;
    const jar = meta?.cookiejar;
    const isJar = selection === 'cookiejar' && jar !== undefined && jar !== null;
    return isJar ? `jar ${JSON.stringify(jar)}` : domainOf(url, domainKey);
  }
}

function namedProxy(text: unknown): ProxyAddress {
  try {
    if (typeof text !== 'string') throw new Error(`it is ${typeof text}, not text`);
    return parseProxy(text);
  } catch (error) {
    throw new DownloadError('bad_request', `meta.proxy is not a proxy: ${(error as Error).message}`);
  }
}
