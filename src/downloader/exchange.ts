/** One request and its response: turns the events of got into exactly one result. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Request as GotRequest, OptionsInit } from 'got';
import type { Logger } from '../log.js';
import type { Agents } from './agents.js';
import type { BodyBudget } from './body/body-budget.js';
import { decodeContent, encodedBytesFor } from './body/decode-content.js';
import { ReceivedBody } from './body/received-body.js';
import { Deadline } from './deadline.js';
import { DownloadError, hostOf, toDownloadError } from './download-error.js';
import { type Limits, limitsOf } from './request-limits.js';
import { Pace, type UsualLatency } from './stalled-downloads.js';
import { type DownloadRequest, type Outgoing, toOutgoing } from './wire-request.js';

export interface Download {
  readonly url: string;
  readonly status: number;
  /** As from Node: lower-case names, latin1 text, `set-cookie` a list. `content-encoding` is removed once decoded. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
  /** Bytes of the body as received, before decoding. */
  readonly wireBytes: number;
  /** From the start to the response's headers. */
  readonly latencyMs: number;
  /** Whether the server has a private address. */
  readonly fromPrivateAddress: boolean;
  /** `dataloss` where the body is incomplete, as DOWNLOAD_FAIL_ON_DATALOSS false allows; `cached` from the HTTP cache; else none. */
  readonly flags: readonly string[];
  /** Proxies that were tried before the one that served the page. */
  readonly failedProxies?: number;
  /** What the HTTP cache did: the page came from it, or was stored in it. */
  readonly cache?: 'hit' | 'stored';
}

/** What a download is for. Of a `robots` (a robots.txt), only the first `Limits.robotsBytes` are read and decoded. */
export type DownloadPurpose = 'page' | 'file' | 'robots' | 'sitemap';

/** A download that has been started. */
export interface DownloadUnderWay {
  readonly result: Promise<Download>;
  /** Nothing has been received for a second, or where servers answer fast for a shorter time; or less than the minimum rate requires. */
  readonly isStalled: boolean;
  /** All of it was received, and it is being inflated. */
  readonly isReceived: boolean;
  /** Fail it as a `timeout`; no effect when it has ended. @param says the reason. */
  timeOut(says: string): void;
  /** Fail it as `aborted`; no effect when it has ended. */
  abort(): void;
}

/** Shared by all downloads of a node. */
export interface SharedByClients {
  readonly budget: BodyBudget;
  /** What they take to answer. */
  readonly usual: UsualLatency;
}

/** Shared by all downloads with the same reach and parser mode. */
export interface Client extends SharedByClients {
  /** Opens the request. `options` are given only when they differ from the defaults. */
  readonly open: (url: string, options?: OptionsInit) => GotRequest;
  readonly agents: Agents;
  /** `host:port` of the proxy that is sent the requests for http pages; null when none is. */
  readonly forwardingProxy: string | null;
  readonly limits: Limits;
  readonly log: Logger;
}

/** Interim (1xx) responses that are accepted before the final one. */
const MAX_INTERIM = 20;

const noFlags: readonly string[] = [];
const cutFlags: readonly string[] = ['dataloss'];

/** One request and its response. The first event that ends it settles `result`; later events have no effect. */
export class Exchange implements DownloadUnderWay {
  readonly result: Promise<Download>;
  readonly #client: Client;
  readonly #request: DownloadRequest;
  readonly #purpose: DownloadPurpose;
  readonly #limits: Limits;
  readonly #startedAt = performance.now();
  readonly #body: ReceivedBody;
  readonly #pace: Pace;
  readonly #deadline: Deadline;
  #resolve!: (download: Download) => void;
  #reject!: (error: DownloadError) => void;
  #settled = false;
  #stream: GotRequest | null = null;
  #response: IncomingMessage | null = null;
  #latencyMs = 0;
  #fromPrivateAddress = false;
  #isDecoding = false;
  #isCut = false;
  #isBeginning = false;
  #interim = 0;

  constructor(
    client: Client,
    request: DownloadRequest,
    purpose: DownloadPurpose,
    limits = limitsOf(client.limits, request.meta),
  ) {
    this.#client = client;
    this.#request = request;
    this.#purpose = purpose;
    this.#limits = limits;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { timeoutMs, minBytesPerSecond, rateWindowMs } = this.#limits;
    this.#pace = new Pace(minBytesPerSecond, rateWindowMs, client.usual);
    this.#deadline = new Deadline(timeoutMs, () =>
      this.timeOut(`timed out after ${timeoutMs / 1000} s in all`),
    );
    this.#body = new ReceivedBody(client.budget, {
      // The timeout does not run while the body is paused in favour of other bodies of this node.
      onPause: (isPaused) => this.#deadline.hold(isPaused),
      onEvict: () =>
        this.timeOut(`stalled after ${this.#body.wireBytes} bytes, in memory that other downloads needed`),
    });
    const hasOwnTimeout = timeoutMs !== client.limits.timeoutMs;
    this.#send(toOutgoing(request, hasOwnTimeout ? timeoutMs : null), true);
  }

  /** Fail it as `aborted`. */
  readonly abort = (): void => this.#fail('aborted', 'the download was aborted');

  /** Nothing is being received. The download continues, but does not count against the concurrency of the node. */
  get isStalled(): boolean {
    return !this.#settled && !this.#isDecoding && !this.#body.isPaused && this.#pace.isStalled;
  }

  get isReceived(): boolean {
    return this.#isDecoding;
  }

  /** Fail it as `timeout`. */
  timeOut(says: string): void {
    this.#fail('timeout', says);
  }

  /** Check the progress; to be called every `PACE_INTERVAL_MS`. */
  readonly checkPace = (): void => {
    if (this.#settled || this.#isDecoding || this.#body.isPaused) return;
    if (!this.#pace.isFastEnough(this.#body.wireBytes, this.#response !== null)) {
      const rate = `${this.#limits.minBytesPerSecond} bytes a second`;
      const says = `the body came at less than ${rate} for ${this.#pace.rateWindowMs / 1_000} s`;
      this.#fail('too_slow', says);
    } else if (this.#pace.isStalled) this.#body.goLast();
  };

  #send(outgoing: Outgoing, mayResend: boolean): void {
    const stream = this.#client.open(outgoing.url, outgoing.options);
    this.#stream = stream;
    stream.on('information', () => this.#countInterim());
    stream.on('upgrade', (_response: IncomingMessage, socket: Socket) => {
      // got listens for upgrades, so Node does not close the socket.
      socket.destroy();
      this.#fail('bad_response', 'the server switched protocols unasked');
    });
    stream.on('response', (response: IncomingMessage) => this.#head(response, stream));
    stream.on('data', (chunk: Buffer) => this.#chunk(chunk));
    stream.on('end', () => this.#end());
    stream.on('error', (error) => {
      if (this.#settled) return;
      if (mayResend && this.#diedIdle(stream, (error as NodeJS.ErrnoException).code))
        this.#send(outgoing, false);
      else if (!this.#endedBeforeError()) this.#failFromError(error);
    });
  }

  /**
   * Whether an idle connection failed on reuse because the server had closed it. The request is not the cause then. A
   * request that is safe to repeat (RFC 9110 §9.2.2) is sent again, once, on a new connection.
   */
  #diedIdle(stream: GotRequest, code: string | undefined): boolean {
    if (stream.reusedSocket !== true || this.#response !== null) return false;
    if (code !== 'ECONNRESET' && code !== 'EPIPE') return false;
    if (this.#request.method !== 'GET' && this.#request.method !== 'HEAD') return false;
    const { hostname, port, protocol } = new URL(this.#request.url);
    const host = hostname.replace(/^\[|\]$/g, '');
    this.#client.agents.dropIdle(`${host}:${port || (protocol === 'https:' ? 443 : 80)}`);
    return true;
  }

  /**
   * Whether the response is complete and only the bytes after it were invalid: more than the announced body, or a body where
   * none is allowed (204). If so, the page is kept and the connection destroyed.
   */
  #endedBeforeError(): boolean {
    const response = this.#response;
    if (response?.complete !== true) return false;
    const rest: unknown = response.read();
    if (Buffer.isBuffer(rest)) this.#chunk(rest);
    const announced = response.headers['content-length'];
    const hasBody =
      this.#request.method !== 'HEAD' && response.statusCode !== 204 && response.statusCode !== 304;
    if (hasBody && announced !== undefined && Number(announced) !== this.#body.wireBytes) return false;
    this.#stream?.destroy();
    this.#end();
    return true;
  }

  #countInterim(): void {
    this.#interim += 1;
    if (this.#interim > MAX_INTERIM)
      this.#fail('bad_response', `more than ${MAX_INTERIM} interim (1xx) responses`);
  }

  #head(response: IncomingMessage, stream: GotRequest): void {
    this.#response = response;
    this.#latencyMs = performance.now() - this.#startedAt;
    this.#fromPrivateAddress = this.#client.agents.isToPrivateAddress(response.socket, this.#request.url);
    this.#pace.progressed();
    const { forwardingProxy, usual } = this.#client;
    usual.note(this.#latencyMs);
    if (response.statusCode === 407 && forwardingProxy !== null && this.#request.url.startsWith('http:')) {
      const says = 'it answered with 407 Proxy Authentication Required';
      this.#fail('proxy_auth', `proxy ${forwardingProxy}: ${says}`);
      return;
    }
    const announced = Number(response.headers['content-length']);
    this.#body.readFrom(stream, this.#atMostBytes(response, announced));
    if (announced > 0 && this.#firstBytes === null && this.#request.method !== 'HEAD')
      this.#checkSize(announced);
  }

  /** What the body may come to hold in memory, decoded. */
  #atMostBytes(response: IncomingMessage, announced: number): number {
    const { maxBodyBytes } = this.#limits;
    const limit = maxBodyBytes > 0 ? maxBodyBytes : Number.POSITIVE_INFINITY;
    const wireBytes = announced > 0 ? announced : limit;
    return codingsOf(response.headers) === '' ? wireBytes : wireBytes + limit;
  }

  #chunk(chunk: Buffer): void {
    if (this.#settled) return;
    this.#checkSize(this.#body.wireBytes + chunk.length);
    if (this.#settled) return;
    this.#body.add(chunk);
    if (this.#response === null || this.#body.wireBytes < this.#wantedBytes(this.#response)) return;
    this.#isBeginning = true;
    this.#end();
    // The rest is not wanted, and no later request may receive it.
    this.#stream?.destroy();
  }

  /** How much of the decoded body is wanted; null for all of it. */
  get #firstBytes(): number | null {
    return this.#purpose === 'robots' ? this.#limits.robotsBytes : null;
  }

  /** How much of the body is wanted, as it is received. */
  #wantedBytes({ headers }: IncomingMessage): number {
    const firstBytes = this.#firstBytes;
    if (firstBytes === null) return Number.POSITIVE_INFINITY;
    return codingsOf(headers) === '' ? firstBytes : encodedBytesFor(firstBytes);
  }

  #checkSize(bytes: number): void {
    const { maxBodyBytes } = this.#limits;
    if (maxBodyBytes > 0 && bytes > maxBodyBytes)
      this.#fail('too_large', `the body is larger than ${maxBodyBytes} bytes`);
  }

  #end(): void {
    if (this.#settled || this.#response === null) return;
    const wire = this.#body.take();
    const codings = codingsOf(this.#response.headers);
    if (codings === '') this.#succeed(this.#response, wire);
    else void this.#decode(this.#response, wire, codings);
  }

  async #decode(response: IncomingMessage, wire: Buffer, codings: string): Promise<void> {
    this.#isDecoding = true;
    try {
      const { maxBodyBytes, failOnDataLoss } = this.#limits;
      const firstBytes = this.#firstBytes;
      const body = await decodeContent(wire, codings, {
        maxBytes: maxBodyBytes,
        ...(firstBytes !== null && { firstBytes, isBeginning: this.#isBeginning }),
        mayBePartial: !failOnDataLoss,
        watch: this.#body,
      });
      // The body is decoded now. Scrapy removes the header too.
      delete response.headers['content-encoding'];
      this.#succeed(response, body);
    } catch (error) {
      if (error instanceof DownloadError) this.#fail(error.reason, error.message, error.cause);
      else this.#failFromError(error);
    }
  }

  #succeed(response: IncomingMessage, body: Buffer): void {
    if (this.#settled) return;
    this.#close();
    this.#warnOfSize(body.length);
    this.#resolve({
      url: this.#request.url,
      status: response.statusCode!,
      headers: response.headers as Record<string, string | string[]>,
      body,
      wireBytes: this.#body.wireBytes,
      latencyMs: this.#latencyMs,
      fromPrivateAddress: this.#fromPrivateAddress,
      flags: this.#isCut ? cutFlags : noFlags,
    });
  }

  #warnOfSize(bytes: number): void {
    const { warnBodyBytes } = this.#limits;
    if (warnBodyBytes === 0 || bytes <= warnBodyBytes) return;
    this.#client.log.warn(
      { host: hostOf(this.#request.url), purpose: this.#purpose, bytes, warnBodyBytes },
      'A large body was downloaded',
    );
  }

  /** Fail with an error of the connection or the parser. A connection lost within the body means a truncated body. */
  #failFromError(error: unknown): void {
    const failure = toDownloadError(error, this.#request.url);
    const cut = this.#response !== null && failure.reason === 'connection_reset';
    if (cut && !this.#limits.failOnDataLoss) {
      this.#isCut = true;
      this.#stream?.destroy();
      this.#end();
    } else if (cut)
      this.#fail(
        'body_truncated',
        `the connection was lost after ${this.#body.wireBytes} bytes of the body`,
        failure.cause,
      );
    else this.#settleWith(failure);
  }

  #fail(reason: DownloadError['reason'], says: string, cause?: unknown): void {
    if (this.#settled) return;
    const host = hostOf(this.#request.url);
    this.#settleWith(new DownloadError(reason, `${host}: ${says}`, cause === undefined ? {} : { cause }));
  }

  #settleWith(error: DownloadError): void {
    if (this.#settled) return;
    this.#close();
    // This destroys the socket too, so that no later request receives the rest of this response.
    this.#stream?.destroy();
    this.#reject(error);
  }

  #close(): void {
    this.#settled = true;
    this.#deadline.clear();
    this.#body.close();
  }
}

/** The `content-encoding`, then the `transfer-encoding` without `chunked`, which Node decodes itself; empty for none. */
function codingsOf(headers: IncomingHttpHeaders): string {
  const content = headers['content-encoding'] ?? '';
  const transfer = headers['transfer-encoding'];
  if (transfer === undefined || transfer === 'chunked') return content;
  return `${content}, ${transfer.replace(/\bchunked\b/gi, '')}`;
}
