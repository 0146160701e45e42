/**
 * The downloader: one request in, one response out, or a `DownloadError` within the total timeout.
 *
 * got's stream API with all its conveniences off: redirects are new requests, retries belong to the frontier, a
 * body is decoded here with limits. *Measured* on loopback (9 KB pages, 16 at once, Node 20), CPU per request:
 * node:http 0.04 ms, got's promise 0.17–0.19 ms, got's stream 0.11–0.15 ms, and 0.05 less since it asks node:http in
 * few words (`native-request.ts`); a plain GET passes got no options of its own, which saves another 0.01 ms. Importing
 * got takes about 0.1 s: reach this file lazily.
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
import type { DownloadRequest } from './outgoing.js';
import { PACE_INTERVAL_MS } from './pace.js';
import type { Reach } from './reach.js';

export type { Download, DownloadRequest };

export interface DownloaderOptions extends Omit<AgentsOptions, 'maxSockets' | 'reach'> {
  /** Let every request connect to private and link-local addresses (ALLOW_PRIVATE_ADDRESSES). */
  readonly allowPrivateAddresses: boolean;
  /** For the whole download, the body included (DOWNLOAD_TIMEOUT). */
  readonly timeoutMs: number;
  /** Limit on the body, on the wire and decoded (DOWNLOAD_MAXSIZE); 0 for none. */
  readonly maxBodyBytes: number;
  /** A larger body is logged (DOWNLOAD_WARNSIZE); 0 for never. */
  readonly warnBodyBytes: number;
  /** A body that stays slower for 30 s fails the download (DOWNLOAD_MIN_RATE); 0 for none. */
  readonly minBytesPerSecond: number;
  /** What unfinished bodies may hold together; over it, all but one pause (DOWNLOAD_BUFFER_LIMIT); 0 for no limit. */
  readonly bufferBytes: number;
  readonly userAgent: string;
  readonly defaultHeaders: Readonly<Record<string, string>>;
  /** Requests that the node works on at once, stalled ones beside them; also the limit of connections to one host. */
  readonly concurrency: number;
  readonly log?: Logger;
}

export interface Downloader {
  /** Any HTTP status is a `Download`; redirects are not followed. The result rejects with a DownloadError. */
  start(request: DownloadRequest): DownloadUnderWay;
  /** `start`, for who has a signal to abort by. @throws DownloadError */
  fetch(request: DownloadRequest, signal: AbortSignal): Promise<Download>;
  /** Abort what is under way and close all connections. */
  close(): Promise<void>;
}

export interface DownloadUnderWay {
  readonly result: Promise<Download>;
  /** Nothing has come for 2 s, or less than the minimum rate asks for. */
  readonly isStalled: boolean;
  /** End it as a `timeout`; nothing when it has ended. @param says why. */
  timeOut(says: string): void;
  /** Give up at once; nothing when it has ended. */
  abort(): void;
}

/** Limits of the phases; the total timeout cuts each of them further. */
const LOOKUP_MS = 20_000;
const CONNECT_MS = 20_000;
const TLS_MS = 20_000;
const RESPONSE_MS = 120_000;

/** Make the one downloader of a node. */
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
      // A table that a long-lived set has outgrown may keep what was in it through many collections, so what ends lets
      // go. Measured: the exchanges themselves in this set cost 35 µs a page, an AbortSignal for each page 45 µs.
      call.abort = nothing;
      call.checkPace = nothing;
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
      // One signal may stand for many downloads; Node warns from the eleventh listener on.
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

function nothing(): void {}

function aborted(): DownloadUnderWay {
  return {
    result: Promise.reject(new DownloadError('aborted', 'the download was aborted')),
    isStalled: false,
    timeOut: nothing,
    abort: nothing,
  };
}

/** The clients of a downloader, one for each reach and way of reading, made on first use. */
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
    // An answer that the strict parser refused is read leniently on its retry; which answer it was is not recorded.
    const isLenient = attempts !== undefined && attempts > 0;
    const clients = isLenient ? this.#lenient : this.#strict;
    const made = clients.get(reach) ?? this.#create(reach, isLenient);
    clients.set(reach, made);
    return made;
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
      'user-agent': options.userAgent,
      'accept-encoding': acceptedEncodings,
    },
    timeout: {
      lookup: phase(LOOKUP_MS),
      connect: phase(CONNECT_MS),
      secureConnect: phase(TLS_MS),
      response: phase(RESPONSE_MS),
    },
  });
  // `isStream` in the defaults makes every call return the stream; the types know that only of `got.stream`,
  // which would merge an options object on every call.
  return instance as unknown as Client['open'];
}
