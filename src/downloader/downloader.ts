/**
 * The downloader: a request ends with a response, or with a `DownloadError` within the total timeout.
 *
 * It uses got's stream API, which needs less CPU than got's promise API (docs/internals/tuning.md). got's redirects,
 * retries and decompression are off: redirects are new requests, the frontier retries, and bodies are decoded here with
 * limits. Importing got takes about 0.1 s, so import this file lazily.
 */
import { setMaxListeners } from 'node:events';
import got from 'got';
import { type Logger, silentLogger } from '../log.js';
import { type AgentPair, type Agents, type AgentsOptions, createAgents } from './agents.js';
import { BodyBudget } from './body-budget.js';
import { acceptedEncodings } from './decode-content.js';
import { DownloadError } from './download-error.js';
import { type Client, type Download, Exchange } from './exchange.js';
import { requestThrough, withoutFrozenOptions } from './native-request.js';
import type { Reach } from './private-addresses.js';
import { PACE_INTERVAL_MS } from './stalled-downloads.js';
import type { DownloadRequest } from './wire-request.js';

export type { Download, DownloadRequest };

export interface DownloaderOptions extends Omit<AgentsOptions, 'maxSockets' | 'reach'> {
  /** Let every request connect to private and link-local addresses (ALLOW_PRIVATE_ADDRESSES). */
  readonly allowPrivateAddresses: boolean;
  /** Timeout of the whole download, including the body (DOWNLOAD_TIMEOUT). */
  readonly timeoutMs: number;
  /** Limit on the size of the body, encoded and decoded (DOWNLOAD_MAXSIZE); 0 for none. */
  readonly maxBodyBytes: number;
  /** A larger body is logged (DOWNLOAD_WARNSIZE); 0 for never. */
  readonly warnBodyBytes: number;
  /** A body that stays slower for 30 s fails the download (DOWNLOAD_MIN_RATE); 0 for none. */
  readonly minBytesPerSecond: number;
  /** A body that ends too early fails the download; false hands over what came (DOWNLOAD_FAIL_ON_DATALOSS). */
  readonly failOnDataLoss: boolean;
  /** Bytes that all unfinished bodies may hold; beyond it, all but one pause (DOWNLOAD_BUFFER_LIMIT); 0 for no limit. */
  readonly bufferBytes: number;
  /** Empty for no User-Agent. */
  readonly userAgent: string;
  readonly defaultHeaders: Readonly<Record<string, string>>;
  /** Requests of the node at once, not counting stalled ones; also the limit of connections to one host. */
  readonly concurrency: number;
  readonly log?: Logger;
}

export interface Downloader {
  /** Any HTTP status is a `Download`; redirects are not followed. The result rejects with a DownloadError. */
  start(request: DownloadRequest): DownloadUnderWay;
  /** Like `start`, with a signal that aborts the download. @throws DownloadError */
  fetch(request: DownloadRequest, signal: AbortSignal): Promise<Download>;
  /** Abort all downloads and close all connections. */
  close(): Promise<void>;
}

export interface DownloadUnderWay {
  readonly result: Promise<Download>;
  /** Nothing has been received for 2 s, or less than the minimum rate requires. */
  readonly isStalled: boolean;
  /** Fail it as a `timeout`; no effect when it has ended. @param says the reason. */
  timeOut(says: string): void;
  /** Fail it as `aborted`; no effect when it has ended. */
  abort(): void;
}

/** Timeouts of the phases. Each is at most the total timeout. */
const LOOKUP_MS = 20_000;
const CONNECT_MS = 20_000;
const TLS_MS = 20_000;
const RESPONSE_MS = 120_000;

/** Create the downloader of a node. */
export function createDownloader(options: DownloaderOptions): Downloader {
  const clients = new Clients(options);
  const underWay = new Set<{ abort: () => void; checkPace: () => void }>();
  let closed = false;
  const pacer = setInterval(() => {
    for (const call of underWay) call.checkPace();
  }, PACE_INTERVAL_MS);
  pacer.unref();
  const start = (request: DownloadRequest): DownloadUnderWay => {
    if (closed) return aborted();
    const exchange = new Exchange(clients.for(request), request);
    const { abort, checkPace } = exchange;
    const call = { abort, checkPace };
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
    async fetch(request, signal) {
      if (signal.aborted) return aborted().result;
      const { result, abort } = start(request);
      // One signal may abort many downloads, and Node warns from the eleventh listener on.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', abort);
      try {
        return await result;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    async close() {
      closed = true;
      clearInterval(pacer);
      for (const call of underWay) call.abort();
      clients.close();
    },
  };
}

function doNothing(): void {}

function aborted(): DownloadUnderWay {
  return {
    result: Promise.reject(new DownloadError('aborted', 'the download was aborted')),
    isStalled: false,
    timeOut: doNothing,
    abort: doNothing,
  };
}

/** The clients of a downloader, one for each reach and parser mode (strict, lenient), created on first use. */
class Clients {
  readonly #options: DownloaderOptions;
  readonly #budget: BodyBudget;
  readonly #agents = new Map<Reach, Agents>();
  readonly #strict = new Map<Reach, Client>();
  readonly #lenient = new Map<Reach, Client>();

  constructor(options: DownloaderOptions) {
    this.#options = options;
    this.#budget = new BodyBudget(options.bufferBytes);
  }

  for({ origin, attempts }: DownloadRequest): Client {
    const reach = this.#options.allowPrivateAddresses
      ? 'any'
      : origin?.private === true
        ? 'private'
        : 'public';
    // A retry parses leniently, since the strict parser may have rejected the earlier answer; the reason is not recorded.
    const isLenient = attempts !== undefined && attempts > 0;
    const clients = isLenient ? this.#lenient : this.#strict;
    const client = clients.get(reach) ?? this.#create(reach, isLenient);
    clients.set(reach, client);
    return client;
  }

  close(): void {
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
      limits: options,
      budget: this.#budget,
      log: options.log ?? silentLogger,
    };
  }
}

function openStream(options: DownloaderOptions, agents: AgentPair, isLenient: boolean): Client['open'] {
  const phase = (ms: number) => Math.min(ms, options.timeoutMs);
  const instance = got.extend({
    request: requestThrough(agents, isLenient),
    handlers: [withoutFrozenOptions],
    isStream: true,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    headers: {
      ...options.defaultHeaders,
      // Undefined also leaves out the name of got.
      'user-agent': options.userAgent === '' ? undefined : options.userAgent,
      'accept-encoding': acceptedEncodings,
    },
    timeout: {
      lookup: phase(LOOKUP_MS),
      connect: phase(CONNECT_MS),
      secureConnect: phase(TLS_MS),
      response: phase(RESPONSE_MS),
    },
  });
  // With `isStream` in the defaults every call returns a stream. got's types know this only of `got.stream`, which would
  // merge an options object on every call.
  return instance as unknown as Client['open'];
}
