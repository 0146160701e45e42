/**
 * Asks `idle()` of the spider and `spiderIdle` of the extensions for more requests when nothing is left to crawl. One node
 * asks at a time. The crawl is complete only when they returned none. When the asking node dies, another one asks again;
 * the dupefilter then rejects requests that were pushed before.
 */
import { CrawlnodeError, closingReason, messageOf } from '../../errors.js';
import type { CrawlState } from '../../frontier/frontier.js';
import { inChunks, requestWeight } from '../../frontier/in-chunks.js';
import type { FrontierRequest } from '../../http/message/record/request-record.js';
import { Request } from '../../http/message/request.js';
import { resultsOf } from '../../spider/callback-results.js';
import type { Spider } from '../../spider/spider.js';
import { withinTimeout } from '../../user-code/callback-timeout.js';
import type { Loaded } from '../../user-code/numbered-modules.js';
import { placeOf } from '../../user-code/where-thrown.js';
import type { IncarnationContext } from '../membership/incarnation-parts.js';
import { seedRequest } from '../seeds/seed-requests.js';
import type { Extension } from './extension.js';

/** How often nodes that stay ask while the crawl is idle, as Scrapy does. */
const AGAIN_AFTER_MS = 5_000;
/** Requests are read in chunks of this size, and each chunk is pushed. */
const CHUNK = 500;

/** Whether a node has hooks for an idle crawl. */
export function hasIdleHooks(spider: Spider, extensions: readonly Loaded<Extension>[]): boolean {
  const ofExtensions = extensions.some(({ methods }) => methods.spiderIdle !== undefined);
  return typeof spider.idle === 'function' || ofExtensions;
}

export class IdleHooks {
  readonly #context: IncarnationContext;
  #isAsking = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Requests of the present call of the hooks. */
  #given = 0;

  constructor(context: IncarnationContext) {
    this.#context = context;
  }

  /**
   * Ask the hooks, without blocking the loop, if it is time to. @param onError gets errors that end this incarnation: of
   * `idle()` of the spider, or of the frontier.
   */
  offer(crawl: CrawlState): void {
    const { node, halt, onError } = this.#context;
    const { spider, options } = node.deps;
    if (this.#isAsking || halt.aborted || crawl.closing !== null) return;
    if (spider.idle === undefined && node.signals?.hears('spiderIdle') !== true) return;
    const comesAgain = !options.exitWhenDone && crawl.finished;
    if (!crawl.idleDue && !(comesAgain && performance.now() - this.#askedAt >= AGAIN_AFTER_MS)) return;
    this.#isAsking = true;
    this.#askedAt = performance.now();
    this.#ask()
      .catch((error: unknown) => halt.aborted || onError(error))
      .finally(() => {
        this.#isAsking = false;
        node.alarm.ring();
      });
  }

  async #ask(): Promise<void> {
    const { node, halt } = this.#context;
    const { frontier, options, log } = node.deps;
    const againAfterMs = options.exitWhenDone ? null : AGAIN_AFTER_MS;
    const isOurs = await node.outage.through('idle', halt, () => frontier.claimIdle(againAfterMs));
    if (!isOurs || halt.aborted) return;
    const accepted = await this.#pushAll();
    if (accepted > 0) log.info({ accepted }, 'the hooks for an idle crawl added requests');
    await node.outage.through('idle', halt, () => frontier.endIdle());
  }

  /** @returns how many requests were accepted. */
  async #pushAll(): Promise<number> {
    let accepted = 0;
    this.#given = 0;
    const chunk: FrontierRequest[] = [];
    const push = async () => {
      accepted += await this.#push(chunk.splice(0));
    };
    for await (const request of this.#requests()) {
      chunk.push(request);
      if (chunk.length >= CHUNK) await push();
    }
    await push();
    return accepted;
  }

  async #push(requests: readonly FrontierRequest[]): Promise<number> {
    const { node, halt } = this.#context;
    const { frontier } = node.deps;
    let accepted = 0;
    for (const part of inChunks(requests, requestWeight)) {
      const push = () => frontier.push(part, 'seeds-judged');
      accepted += (await node.outage.through('push', halt, push)).accepted;
      node.alarm.ring();
    }
    return accepted;
  }

  async *#requests(): AsyncGenerator<FrontierRequest> {
    const { signals, deps } = this.#context.node;
    const { spider } = deps;
    if (spider.idle !== undefined) {
      try {
        yield* this.#stored(await this.#within(spider.idle()));
      } catch (error) {
        await this.#closeOr(error, () => {
          throw this.#failure(error);
        });
      }
    }
    for (const { name, returned } of (await signals?.ofNode('spiderIdle', {})) ?? []) {
      try {
        yield* this.#stored(returned);
      } catch (error) {
        await this.#closeOr(error, () => signals?.log(name, 'spiderIdle', error));
      }
    }
  }

  /** CloseSpider closes the run. */
  async #closeOr(error: unknown, otherwise: () => void): Promise<void> {
    const { node, halt } = this.#context;
    const { frontier, log } = node.deps;
    const closing = closingReason(error);
    if (closing === null) return otherwise();
    log.info({ reason: closing }, `a hook for an idle crawl closes it: ${closing}`);
    await node.outage.through('close', halt, () => frontier.closeRun(closing));
  }

  #failure(error: unknown): CrawlnodeError {
    const message = `idle() of the spider "${this.#context.node.deps.spider.name}" failed: ${messageOf(error)}${placeOf(error)}`;
    return new CrawlnodeError('hook_error', message, { cause: error });
  }

  /**
   * Convert what a hook returned to requests of the frontier. @throws errors of its code; CrawlnodeError for values that
   * are no requests
   */
  async *#stored(returned: unknown): AsyncGenerator<FrontierRequest> {
    const { node, rules } = this.#context;
    const { spider } = node.deps;
    const steps = resultsOf(returned);
    try {
      for (;;) {
        const step = await this.#within(steps.next());
        if (step.done === true) return;
        yield seedRequest(requestOf(step.value), this.#given, spider, rules, Date.now(), 'trusted');
        this.#given += 1;
      }
    } finally {
      // Not awaited: `return()` waits until the current step of the generator has ended.
      steps.return(undefined).catch(() => {});
    }
  }

  async #within<T>(returned: T | PromiseLike<T>): Promise<T> {
    return withinTimeout(returned, this.#context.node.deps.options.callbackTimeoutMs);
  }
}

/** @throws CrawlnodeError `hook_error` for what is no request. */
function requestOf(given: unknown): Request {
  if (given instanceof Request) return given;
  if (typeof given === 'string') return new Request(given);
  const message = `it gave a value of type ${typeof given} where a Request or a URL is needed`;
  throw new CrawlnodeError('hook_error', message);
}
