/**
 * `start()` of a spider: read as fast as its requests are crawled, and pushed in chunks.
 *
 * ```
 *   claim ──► taken by a live node ──► claim again later
 *     │──────► all pushed ──► nothing to do
 *     └──────► ours: read from the beginning ─► push a chunk ─► wait while the queue is long ─► … ─► returned: all pushed
 * ```
 *
 * One node runs it. When that node dies, another one runs it again from its beginning, so no request of it is lost: the
 * store accepts a request once by its fingerprint, and one with dontFilter once by its place.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CrawlnodeError, closingReason, concernsNode, messageOf } from '../../errors.js';
import { howMany } from '../../format-amounts.js';
import type { PushAnswer } from '../../frontier/frontier.js';
import { inChunks, requestWeight } from '../../frontier/in-chunks.js';
import { startKey } from '../../frontier/shared-settings/run-arguments.js';
import type { FrontierRequest } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import type { Spider } from '../../spider/spider.js';
import { placeOf } from '../../user-code/where-thrown.js';
import type { LinkRules } from '../links/filter-links.js';
import type { IncarnationContext } from '../membership/incarnation-parts.js';
import { seedRequest } from './seed-requests.js';
import { StartSilence } from './start-silence.js';

/** Requests pushed at a time. */
const CHUNK = 500;
/** When a generator is slow, the requests that it has yielded are pushed after this time. */
const FLUSH_MS = 200;
/** At this many pending requests the generator is paused; at half as many it continues. */
const MAX_WAITING = 10_000;
const LOOK_MS = 250;
/** How often a node looks whether the one that runs start() has died. */
const CLAIM_EVERY_MS = 2_000;

/** Whether a spider makes its start requests with `start()`. */
export function hasGenerator(spider: Spider): boolean {
  return typeof spider.start === 'function';
}

/**
 * Run `start()` until it returned, or another node has run it, or the incarnation is to stop.
 * @throws CrawlnodeError `start_failed` when spider code throws; errors of the frontier.
 */
export async function runStart(context: IncarnationContext): Promise<void> {
  const { node, halt } = context;
  while (!halt.aborted) {
    const claim = await node.outage.through('start', halt, () => node.deps.frontier.claimStart());
    if (claim === 'pushed') return;
    if (claim === 'claimed') return readAll(context);
    await pause(CLAIM_EVERY_MS, halt);
  }
}

async function readAll(context: IncarnationContext): Promise<void> {
  const { node, halt } = context;
  const { frontier, log, spider, options } = node.deps;
  const reader = new StartReader(spider);
  const pusher = new StartPusher(context);
  const afterMs = options.callbackTimeoutMs;
  const silence = new StartSilence({ log, spider: spider.name, afterMs, stop: halt });
  try {
    silence.begin();
    while (!halt.aborted) {
      const chunk = await reader.nextChunk();
      if (halt.aborted) return;
      // While the queue is full, the generator is not asked for more.
      if (chunk.values.length > 0) silence.end();
      await pusher.push(chunk.values, chunk.isLast);
      if (chunk.values.length > 0) silence.begin();
      if (chunk.failure !== undefined) throw chunk.failure.error;
      if (chunk.isLast) {
        log.info({ requests: pusher.count }, 'start() has returned, and all of its requests are pushed');
        return;
      }
    }
  } catch (error) {
    if (halt.aborted || concernsNode(error)) throw error;
    const closing = closingReason(error);
    if (closing !== null) {
      log.info({ reason: closing }, `start() closes the crawl: ${closing}`);
      await node.outage.through('close', halt, () => frontier.closeRun(closing));
      return;
    }
    const what = `start() of the spider "${spider.name}" failed after ${howMany(pusher.count, 'request')}`;
    throw new CrawlnodeError(
      'start_failed',
      `${what}: ${messageOf(error)}${placeOf(error)}; the next node runs it again from its beginning`,
      { cause: error },
    );
  } finally {
    silence.end();
    reader.end();
  }
}

/** What a generator has given. */
interface Chunk {
  readonly values: readonly unknown[];
  readonly isLast: boolean;
  /** What the generator threw after these values. */
  readonly failure?: { readonly error: unknown };
}

type Step = IteratorResult<unknown>;

/** Reads a generator in chunks; a slow one gives smaller chunks. */
class StartReader {
  readonly #spider: Spider;
  #iterator: Iterator<unknown> | AsyncIterator<unknown> | null = null;
  /** A value that was requested but had not arrived when its chunk was closed. */
  #pending: Promise<Step> | null = null;

  constructor(spider: Spider) {
    this.#spider = spider;
  }

  async nextChunk(): Promise<Chunk> {
    this.#iterator ??= await startIterator(this.#spider);
    const values: unknown[] = [];
    let late: Promise<null> | null = null;
    while (values.length < CHUNK) {
      let step: Step | null;
      try {
        const next: Promise<Step> | Step = this.#pending ?? this.#iterator.next();
        this.#pending = null;
        if (next instanceof Promise && late !== null) {
          step = await Promise.race([next, late]);
          if (step === null) this.#pending = next;
        } else {
          step = await next;
        }
        if (next instanceof Promise) late ??= sleep(FLUSH_MS, null, { ref: false });
      } catch (error) {
        return { values, isLast: false, failure: { error } };
      }
      if (step === null) return { values, isLast: false };
      if (step.done === true) return { values, isLast: true };
      values.push(step.value);
    }
    return { values, isLast: false };
  }

  /** Let the generator run its `finally` blocks. If it waits for something, they run after that. */
  end(): void {
    this.#pending?.catch(() => {});
    void Promise.resolve(this.#iterator?.return?.()).catch(() => {});
  }
}

/** @throws TypeError for a `start()` that gives no list; what it throws */
export async function startIterator(spider: Spider): Promise<Iterator<unknown> | AsyncIterator<unknown>> {
  const started: unknown = await spider.start?.();
  if (typeof started === 'object' && started !== null) {
    if (Symbol.asyncIterator in started) return (started as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    if (Symbol.iterator in started) return (started as Iterable<unknown>)[Symbol.iterator]();
  }
  throw new TypeError(
    'it must be a generator, or return a list of requests: *start() { yield new Request(url); }',
  );
}

/** Pushes the requests of a generator in order, no faster than they are crawled. */
class StartPusher {
  readonly #context: IncarnationContext;
  readonly #key: string;
  readonly #most: number;
  #count = 0;

  constructor(context: IncarnationContext) {
    this.#context = context;
    const { spider, options } = context.node.deps;
    const { queueLimit } = options.tunables;
    this.#key = startKey(spider.args);
    this.#most = queueLimit > 0 ? Math.min(queueLimit, MAX_WAITING) : MAX_WAITING;
  }

  /** Requests pushed so far, duplicates included. */
  get count(): number {
    return this.#count;
  }

  async push(values: readonly unknown[], isLast: boolean): Promise<void> {
    const { node, halt } = this.#context;
    const { alarm } = node;
    const { requests, failure } = this.#requestsOf(values);
    let waiting = 0;
    for (const chunk of inChunks(requests, requestWeight)) {
      ({ waiting = 0 } = await this.#send(chunk, null));
      this.#count += chunk.length;
      alarm.ring();
    }
    if (failure !== undefined) throw failure.error;
    if (isLast) {
      await this.#send([], this.#count);
      alarm.ring();
      return;
    }
    if (waiting < this.#most) return;
    while (waiting > this.#most / 2 && !halt.aborted) {
      await pause(LOOK_MS, halt);
      ({ waiting = 0 } = await this.#send([], null));
    }
  }

  /** The requests before the first bad value, and what is wrong with that one. */
  #requestsOf(values: readonly unknown[]): { requests: FrontierRequest[]; failure?: { error: unknown } } {
    const { node, rules } = this.#context;
    const requests: FrontierRequest[] = [];
    for (const value of values) {
      try {
        requests.push(startRequestOf(value, this.#count + requests.length, node.deps.spider, rules));
      } catch (error) {
        return { requests, failure: { error } };
      }
    }
    return { requests };
  }

  #send(chunk: readonly FrontierRequest[], total: number | null): Promise<PushAnswer> {
    const { node, halt } = this.#context;
    const part = { from: this.#count, total, key: this.#key };
    return node.outage.through('push', halt, () => node.deps.frontier.push(chunk, 'start-generated', part));
  }
}

/** What `start()` yielded as a request. @throws TypeError for what is neither a request nor a URL; InvalidRequestError */
export function startRequestOf(
  value: unknown,
  ordinal: number,
  spider: Spider,
  rules: LinkRules,
): FrontierRequest {
  if (!(value instanceof Request) && typeof value !== 'string') {
    const what = value === null ? 'null' : typeof value;
    throw new TypeError(
      `it yielded ${what === 'object' ? 'an object' : what} where a Request or a URL is needed`,
    );
  }
  const request = typeof value === 'string' ? new Request(value) : value;
  return seedRequest(request, ordinal, spider, rules, Date.now(), 'trusted');
}

async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => {});
}
