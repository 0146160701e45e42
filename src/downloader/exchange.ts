/** One request and its answer: what got reports, turned into exactly one result. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Request as GotRequest, OptionsInit } from 'got';
import type { Logger } from '../log.js';
import type { Agents } from './agents.js';
import type { BodyBudget } from './body-budget.js';
import { Deadline } from './deadline.js';
import { decodeContent } from './decode-content.js';
import { DownloadError, hostOf, toDownloadError } from './download-error.js';
import { type DownloadRequest, type Outgoing, toOutgoing } from './outgoing.js';
import { Pace, RATE_WINDOW_S } from './pace.js';
import { ReceivedBody } from './received-body.js';

export interface Download {
  readonly url: string;
  readonly status: number;
  /** Lower-case names, as Node reads them: latin1 text, `set-cookie` a list. `content-encoding` is gone where it was undone. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
  /** Bytes of the body as they came, before decoding. */
  readonly wireBytes: number;
  /** From the start to the response's headers. */
  readonly latencyMs: number;
  /** The server's address was a private one. */
  readonly fromPrivateAddress: boolean;
}

/** Of `DownloaderOptions`. */
interface Limits {
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly warnBodyBytes: number;
  readonly minBytesPerSecond: number;
}

/** What all downloads of one reach share. */
export interface Client {
  /** With options where the request has any of its own. */
  readonly open: (url: string, options?: OptionsInit) => GotRequest;
  readonly agents: Agents;
  readonly limits: Limits;
  /** Of the whole node. */
  readonly budget: BodyBudget;
  readonly log: Logger;
}

/** Interim (1xx) answers before the real one; a server that sends more only keeps us busy. */
const MAX_INTERIM = 20;

/** One request and its answer. Whatever happens first settles `result`; everything later finds it settled. */
export class Exchange {
  readonly result: Promise<Download>;
  readonly #client: Client;
  readonly #request: DownloadRequest;
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
  #interim = 0;

  constructor(client: Client, request: DownloadRequest) {
    this.#client = client;
    this.#request = request;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { timeoutMs, minBytesPerSecond } = client.limits;
    this.#pace = new Pace(minBytesPerSecond);
    this.#deadline = new Deadline(timeoutMs, () =>
      this.timeOut(`timed out after ${timeoutMs / 1000} s in all`),
    );
    // Waiting for other bodies of this node is no fault of the server: the time does not count.
    this.#body = new ReceivedBody(client.budget, (isPaused) => this.#deadline.hold(isPaused));
    this.#send(toOutgoing(request), true);
  }

  /** Give up at once. */
  readonly abort = (): void => this.#fail('aborted', 'the download was aborted');

  /** Nothing comes; the download waits on, and need not count against the concurrency of the node. */
  get isStalled(): boolean {
    return !this.#settled && !this.#isDecoding && !this.#body.isPaused && this.#pace.isStalled;
  }

  /** End as a `timeout`. */
  timeOut(says: string): void {
    this.#fail('timeout', says);
  }

  /** Look at the progress; to be called every `PACE_INTERVAL_MS`. */
  readonly checkPace = (): void => {
    if (this.#settled || this.#isDecoding || this.#body.isPaused) return;
    const { minBytesPerSecond } = this.#client.limits;
    if (!this.#pace.isFastEnough(this.#body.wireBytes, this.#response !== null)) {
      const says = `the body came at less than ${minBytesPerSecond} bytes a second for ${RATE_WINDOW_S} s`;
      this.#fail('too_slow', says);
    } else if (this.#pace.isStalled) this.#body.goLast();
  };

  #send(outgoing: Outgoing, mayResend: boolean): void {
    const stream = this.#client.open(outgoing.url, outgoing.options);
    this.#stream = stream;
    stream.on('information', () => this.#countInterim());
    stream.on('upgrade', (_response: IncomingMessage, socket: Socket) => {
      // got listens for upgrades, so Node hands the socket over instead of closing it.
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
      else if (!this.#isWholeAfterAll()) this.#broken(error);
    });
  }

  /**
   * A kept-alive connection that the server closed while it idled fails on its next use, which says nothing of
   * the request. One that may be repeated safely (RFC 9110 §9.2.2) is sent again, once, on a new connection.
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
   * More than the announced body came, or a body where there is none (204): the parser fails at the first byte too many,
   * but the answer before it is whole. The page is kept and the connection destroyed.
   */
  #isWholeAfterAll(): boolean {
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
      this.#fail('bad_response', `more than ${MAX_INTERIM} interim (1xx) answers`);
  }

  #head(response: IncomingMessage, stream: GotRequest): void {
    this.#response = response;
    this.#latencyMs = performance.now() - this.#startedAt;
    this.#fromPrivateAddress = this.#client.agents.isToPrivateAddress(response.socket);
    this.#pace.progressed();
    this.#body.readFrom(stream);
    const announced = Number(response.headers['content-length']);
    if (announced > 0 && this.#request.method !== 'HEAD') this.#checkSize(announced);
  }

  #chunk(chunk: Buffer): void {
    if (this.#settled) return;
    this.#checkSize(this.#body.wireBytes + chunk.length);
    if (!this.#settled) this.#body.add(chunk);
  }

  #checkSize(bytes: number): void {
    const { maxBodyBytes } = this.#client.limits;
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
      const body = await decodeContent(wire, codings, this.#client.limits.maxBodyBytes, this.#body);
      // As Scrapy does: what is handed on is no longer encoded.
      delete response.headers['content-encoding'];
      this.#succeed(response, body);
    } catch (error) {
      if (error instanceof DownloadError) this.#fail(error.reason, error.message, error.cause);
      else this.#broken(error);
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
    });
  }

  #warnOfSize(bytes: number): void {
    const { warnBodyBytes } = this.#client.limits;
    if (warnBodyBytes === 0 || bytes <= warnBodyBytes) return;
    this.#client.log.warn(
      { host: hostOf(this.#request.url), bytes, warnBodyBytes },
      'A large body was downloaded',
    );
  }

  /** The connection or the parser gave up: in the middle of a body that means it is cut off. */
  #broken(error: unknown): void {
    const failure = toDownloadError(error, this.#request.url);
    const cut = this.#response !== null && failure.reason === 'connection_reset';
    if (cut)
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
    // Destroys the socket too, so that no later request meets the rest of this answer.
    this.#stream?.destroy();
    this.#reject(error);
  }

  #close(): void {
    this.#settled = true;
    this.#deadline.clear();
    this.#body.close();
  }
}

/** `content-encoding`, then what `transfer-encoding` adds to `chunked`, which Node undoes itself; empty for none. */
function codingsOf(headers: IncomingHttpHeaders): string {
  const content = headers['content-encoding'] ?? '';
  const transfer = headers['transfer-encoding'];
  if (transfer === undefined || transfer === 'chunked') return content;
  return `${content}, ${transfer.replace(/\bchunked\b/gi, '')}`;
}
