/**
 * The downloader: a request ends with a response, or with a `DownloadError` within the total timeout.
 *
 * It uses got's stream API, which needs less CPU than got's promise API (docs/internals/tuning.md). got's redirects,
 * retries and decompression are off: redirects are new requests, the frontier retries, and bodies are decoded here with
 * limits. Importing got takes about 0.1 s, so import this file lazily.
 */
import { setMaxListeners } from 'node:events';
import { type Logger, silentLogger } from '../log.js';
import { type Agents, type AgentsOptions, createAgents } from './agents.js';
import { BodyBudget, type PageTurn } from './body/body-budget.js';
import { cachedLookup } from './dns-cache.js';
import { DownloadError, toDownloadError } from './download-error.js';
import {
  type Client,
  type Download,
  type DownloadPurpose,
  type DownloadUnderWay,
  Exchange,
  type SharedByClients,
} from './exchange.js';
import { openStream } from './open-stream.js';
import { type Reach, refusalOfUrl } from './private-addresses.js';
import { ProxiedDownload } from './proxies/proxied-download.js';
import { ProxyClients } from './proxies/proxy-clients.js';
import { noProxies, type ProxyOptions, ProxyRoutes } from './proxies/proxy-routes.js';
import type { Limits } from './request-limits.js';
import { PACE_INTERVAL_MS, UsualLatency } from './stalled-downloads.js';
import type { DownloadRequest } from './wire-request.js';

export type { Download, DownloadPurpose, DownloadRequest, DownloadUnderWay, PageTurn };

/** What may be configured of the downloads of a node. */
export interface DownloaderOptions extends Omit<AgentsOptions, 'maxSockets' | 'reach'>, Limits {
  /** Let every request connect to private and link-local addresses (ALLOW_PRIVATE_ADDRESSES). */
  readonly allowPrivateAddresses: boolean;
  /** Bytes that all unfinished bodies may hold; beyond it, all but one pause (DOWNLOAD_BUFFER_LIMIT); 0 for no limit. */
  readonly bufferBytes: number;
  /** Empty for no User-Agent. */
  readonly userAgent: string;
  readonly defaultHeaders: Readonly<Record<string, string>>;
  /** Requests of the node at once, not counting stalled ones; also the limit of connections to one host. */
  readonly concurrency: number;
  /** How host names are resolved; by default without a cache, within a minute. */
  readonly dns?: DnsOptions;
  /** Proxies of the settings; none by default. */
  readonly proxies?: ProxyOptions;
  readonly log?: Logger;
}

export interface DnsOptions {
  /** DNSCACHE_SIZE: names that are kept; 0 without DNSCACHE_ENABLED. */
  readonly cacheSize: number;
  /** DNS_TIMEOUT. */
  readonly timeoutMs: number;
}

/** How one download is made. */
export interface DownloadOptions {
  readonly purpose: DownloadPurpose;
  /**
   * An earlier response to this request was not valid HTTP: parse leniently, over a connection that no other request uses.
   */
  readonly isLenient?: boolean;
  /**
   * After this instant of `performance.now()` no further proxy is tried, since the politeness of the domain allows no later
   * beginning.
   */
  readonly beginByMs?: number;
  /** Called when the download stalls, or is only being inflated: another one may begin. */
  readonly onStall?: () => void;
}

export interface Downloader {
  /** Any HTTP status is a `Download`; redirects are not followed. The result rejects with a DownloadError. */
  start(request: DownloadRequest, options: DownloadOptions): DownloadUnderWay;
  /** Like `start`, with a signal that aborts the download. @throws DownloadError */
  fetch(request: DownloadRequest, options: DownloadOptions, signal: AbortSignal): Promise<Download>;
  /** The turn of a page to run, by the length of its body; null where it need not wait (`BodyBudget.enter`). */
  enter(bodyBytes: number): PageTurn | null;
  /** Abort all downloads and close all connections. */
  close(): Promise<void>;
}

/** Create the downloader of a node. */
export function createDownloader(given: DownloaderOptions): Downloader {
  const options = withDnsCache(given);
  const clients = new Clients(options);
  const routes = new ProxyRoutes(options.proxies ?? noProxies);
  const underWay = new Set<{ abort: () => void; checkPace: () => void }>();
  let closed = false;
  const pacer = setInterval(() => {
    for (const call of underWay) call.checkPace();
  }, PACE_INTERVAL_MS);
  pacer.unref();
  const open = (request: DownloadRequest, how: DownloadOptions) => {
    const { purpose, isLenient = false, beginByMs = Number.POSITIVE_INFINITY } = how;
    const route = routes.of(request);
    if (route === null) return new Exchange(clients.for(request, isLenient), request, purpose);
    const refusal = refusalOfUrl(request.url, clients.reachOf(request));
    if (refusal !== null) throw refusal;
    const log = options.log ?? silentLogger;
    return new ProxiedDownload(request, {
      ...{ purpose, isLenient },
      route,
      beginByMs,
      clients: clients.ofProxies,
      limits: options,
      log,
    });
  };
  const start = (request: DownloadRequest, how: DownloadOptions): DownloadUnderWay => {
    if (closed) return failed(new DownloadError('aborted', 'the download was aborted'));
    let exchange: Exchange | ProxiedDownload;
    try {
      exchange = open(request, how);
    } catch (error) {
      return failed(toDownloadError(error, request.url));
    }
    let wasIdle = false;
    const checkPace = () => {
      exchange.checkPace();
      const isIdle = exchange.isStalled || exchange.isReceived;
      if (isIdle && !wasIdle) how.onStall?.();
      wasIdle = isIdle;
    };
    const call = { abort: exchange.abort, checkPace };
    underWay.add(call);
    const end = () => {
      // V8 may keep deleted entries of a long-lived set in memory for many collections. So the set holds small objects,
      // which release their exchange here.
      call.abort = doNothing;
      call.checkPace = doNothing;
      underWay.delete(call);
    };
    exchange.result.then(end, end);
    return exchange;
  };
  return {
    start,
    async fetch(request, how, signal) {
      if (signal.aborted) throw new DownloadError('aborted', 'the download was aborted');
      const { result, abort } = start(request, how);
      // One signal may abort many downloads, and Node warns from the eleventh listener on.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', abort);
      try {
        return await result;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    enter: (bodyBytes) => clients.shared.budget.enter(bodyBytes),
    async close() {
      closed = true;
      clearInterval(pacer);
      for (const call of underWay) call.abort();
      clients.close();
    },
  };
}

function withDnsCache(options: DownloaderOptions): DownloaderOptions {
  const size = options.dns?.cacheSize ?? 0;
  return size === 0 ? options : { ...options, lookup: cachedLookup(size, options.lookup) };
}

function doNothing(): void {}

function failed(error: DownloadError): DownloadUnderWay {
  return {
    result: Promise.reject(error),
    isStalled: false,
    isReceived: false,
    timeOut: doNothing,
    abort: doNothing,
  };
}

/**
 * The clients of a downloader, created on first use: of direct connections one for each reach and parser mode (strict,
 * lenient), of proxies one for each proxy and parser mode.
 */
class Clients {
  readonly ofProxies: ProxyClients;
  readonly #options: DownloaderOptions;
  readonly shared: SharedByClients;
  readonly #agents = new Map<Reach, Agents>();
  readonly #strict = new Map<Reach, Client>();
  readonly #lenient = new Map<Reach, Client>();

  constructor(options: DownloaderOptions) {
    this.#options = options;
    this.shared = { budget: new BodyBudget(options.bufferBytes), usual: new UsualLatency() };
    this.ofProxies = new ProxyClients(options, this.shared);
  }

  for(request: DownloadRequest, isLenient: boolean): Client {
    const reach = this.reachOf(request);
    const clients = isLenient ? this.#lenient : this.#strict;
    const client = clients.get(reach) ?? this.#create(reach, isLenient);
    clients.set(reach, client);
    return client;
  }

  reachOf({ origin }: DownloadRequest): Reach {
    if (this.#options.allowPrivateAddresses) return 'any';
    return origin?.private === true ? 'private' : 'public';
  }

  close(): void {
    this.ofProxies.close();
    for (const agents of this.#agents.values()) agents.close();
  }

  #create(reach: Reach, isLenient: boolean): Client {
    const options = this.#options;
    const agents =
      this.#agents.get(reach) ?? createAgents({ ...options, reach, maxSockets: options.concurrency });
    this.#agents.set(reach, agents);
    return {
      open: openStream(options, isLenient ? agents.unpooled : agents, isLenient),
      agents,
      forwardingProxy: null,
      limits: options,
      ...this.shared,
      log: options.log ?? silentLogger,
    };
  }
}
