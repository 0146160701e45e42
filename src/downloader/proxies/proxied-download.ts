/** A download through proxies: when one fails before the site was reached, another one is tried. */
import type { Logger } from '../../log.js';
import type { ProxyAddress } from '../../settings/proxy-url.js';
import { DownloadError, hostOf } from '../download-error.js';
import { type Download, type DownloadPurpose, type DownloadUnderWay, Exchange } from '../exchange.js';
import { type Limits, limitsOf } from '../request-limits.js';
import type { DownloadRequest } from '../wire-request.js';
import type { ProxyClients } from './proxy-clients.js';
import type { ProxyRoute } from './proxy-routes.js';

const MAX_TRIED = 3;

export interface ProxiedDownloadOptions {
  readonly purpose: DownloadPurpose;
  readonly isLenient: boolean;
  readonly route: ProxyRoute;
  readonly clients: ProxyClients;
  /** Their timeout is for all proxies together. */
  readonly limits: Limits;
  /** No further proxy is tried after this instant of `performance.now()`. */
  readonly beginByMs: number;
  readonly log: Logger;
}

export class ProxiedDownload implements DownloadUnderWay {
  readonly result: Promise<Download>;
  readonly #request: DownloadRequest;
  readonly #options: ProxiedDownloadOptions;
  readonly #limits: Limits;
  readonly #endsAtMs: number;
  readonly #tried: ProxyAddress[] = [];
  #exchange!: Exchange;

  constructor(request: DownloadRequest, options: ProxiedDownloadOptions) {
    this.#request = request;
    this.#options = options;
    this.#limits = limitsOf(options.limits, request.meta);
    this.#endsAtMs = performance.now() + this.#limits.timeoutMs;
    const { pool, key } = options.route;
    // A pool always has a first proxy: a resting one, when there is no other.
    this.result = this.#through(pool.choose(key, this.#tried, Date.now())!);
  }

  get isStalled(): boolean {
    return this.#exchange.isStalled;
  }

  get isReceived(): boolean {
    return this.#exchange.isReceived;
  }

  timeOut(says: string): void {
    this.#exchange.timeOut(says);
  }

  readonly abort = (): void => this.#exchange.abort();

  readonly checkPace = (): void => this.#exchange.checkPace();

  async #through(proxy: ProxyAddress): Promise<Download> {
    const { clients, route, purpose, isLenient } = this.#options;
    const { client, release } = clients.take(proxy, isLenient);
    const failedProxies = this.#tried.length;
    const leftMs = Math.max(1, Math.ceil(this.#endsAtMs - performance.now()));
    const limits = failedProxies === 0 ? this.#limits : { ...this.#limits, timeoutMs: leftMs };
    this.#exchange = new Exchange(client, this.#request, purpose, limits);
    try {
      const download = await this.#exchange.result;
      if (route.pool.succeeded(proxy)) this.#options.log.info({ proxy: proxy.label }, 'a proxy works again');
      return failedProxies === 0 ? download : { ...download, failedProxies };
    } catch (error) {
      if (!(error instanceof DownloadError) || !error.isOfProxy) throw error;
      return await this.#afterFailure(proxy, error);
    } finally {
      release();
    }
  }

  /** @throws DownloadError when no other proxy may be tried. */
  #afterFailure(proxy: ProxyAddress, error: DownloadError): Promise<Download> {
    const { pool, key } = this.#options.route;
    this.#tried.push(proxy);
    this.#noteFailure(proxy, error);
    const nowMs = Date.now();
    const next = this.#tried.length < MAX_TRIED ? pool.choose(key, this.#tried, nowMs) : null;
    const isLate = performance.now() > this.#options.beginByMs;
    const waitMs = pool.waitMs(nowMs);
    if (next !== null && !isLate) return this.#through(next);
    const count = this.#tried.length;
    const more = count > 1 ? `; ${count} proxies were tried` : '';
    // A proxy that refused this one site does not rest. Were the page not counted then, it could go round for ever.
    const cutShort = next !== null && error.reason !== 'proxy_refused';
    throw new DownloadError(error.reason, error.message + more, {
      cause: error.cause,
      proxies: { count, cutShort, waitMs },
    });
  }

  #noteFailure(proxy: ProxyAddress, { reason, message }: DownloadError): void {
    const { pool } = this.#options.route;
    const restMs =
      reason === 'proxy_refused'
        ? pool.refused(proxy, hostOf(this.#request.url), Date.now())
        : pool.failed(proxy, Date.now());
    const fields = { proxy: proxy.label, reason };
    if (restMs === null || restMs === 0) this.#options.log.debug(fields, `a proxy failed: ${message}`);
    else this.#options.log.warn(fields, `a proxy failed and rests for ${restMs / 1_000} s: ${message}`);
  }
}
