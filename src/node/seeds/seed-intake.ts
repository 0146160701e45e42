/**
 * The intake of external seeds while the node crawls. A batch is read and stays in its list, is converted, and is committed in
 * one step that removes it from the list. Two nodes may convert the same seed; the store lets one of them commit it.
 */
import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { CrawlnodeError, concernsNode, InvalidRequestError, messageOf } from '../../errors.js';
import {
  type ConvertedSeed,
  type CrawlState,
  MAX_SEED_BYTES,
  type RawSeed,
} from '../../frontier/frontier.js';
import type { IncarnationContext } from '../membership/incarnation-parts.js';
import { requestsOfSeed } from './seed-requests.js';

/** Nodes see new seeds at about the same time. A node that waits a little longer finds that another one has taken them. */
const JITTER_MS = 50;
/** How much of a bad seed a log line shows. */
const SHOWN_BYTES = 200;

export class SeedIntake {
  readonly #context: IncarnationContext;
  #running = false;
  #said = '';
  #saidBoth = false;
  #saidProxy = false;

  constructor(context: IncarnationContext) {
    this.#context = context;
  }

  /** Start the intake of one batch, if there are seeds and no intake runs. Never waits. */
  offer(crawl: CrawlState): void {
    if (this.#running || crawl.seedsWaiting === 0) return;
    if (crawl.control !== 'running' || crawl.closing !== null || crawl.full) return;
    this.#running = true;
    this.#noticeBoth();
    void this.#takeBatch(crawl.seedsWaiting).then(() => {
      this.#running = false;
      this.#context.node.alarm.ring();
    });
  }

  /** An author who has replaced startUrls by seeds may have left both by mistake. */
  #noticeBoth(): void {
    const { spider, log } = this.#context.node.deps;
    if (this.#saidBoth || spider.startUrls.length === 0) return;
    this.#saidBoth = true;
    log.info(
      {},
      `seeds wait in the start_urls key of ${spider.name}; they are crawled in addition to its startUrls`,
    );
  }

  #noticeProxy(): void {
    if (this.#saidProxy) return;
    this.#saidProxy = true;
    this.#context.node.deps.log.warn(
      {},
      'a seed of the start_urls key names a proxy, which is ignored: whoever can write there could route requests of the crawl through any host. PROXY_FROM_SEEDS: true allows it',
    );
  }

  /** Never rejects: the main loop notices by itself when the store is away or the incarnation died. */
  async #takeBatch(waiting: number): Promise<void> {
    const { frontier, options, log } = this.#context.node.deps;
    const batch = options.seedBatch ?? options.concurrency;
    await sleep(Math.random() * JITTER_MS);
    try {
      const seeds = await frontier.peekSeeds(Math.min(batch, waiting));
      if (seeds.length === 0) return;
      const converted = await Promise.all(seeds.map((seed) => this.#convert(seed)));
      const answer = await frontier.intake(converted);
      log.debug({ ...answer }, 'read seeds');
    } catch (error) {
      this.#sayOnce(error);
    }
  }

  /** The main loop reports a store that is away, or a dead incarnation. Anything else is logged here, once. */
  #sayOnce(error: unknown): void {
    const { log } = this.#context.node.deps;
    const what = error instanceof CrawlnodeError ? error.message : String(error);
    const isTheLoops = concernsNode(error);
    const say = isTheLoops || what === this.#said ? log.debug : log.warn;
    say.call(log, { error: what }, 'seeds could not be read; they stay in start_urls');
    if (!isTheLoops) this.#said = what;
  }

  async #convert(seed: RawSeed): Promise<ConvertedSeed> {
    const { node, rules } = this.#context;
    const { spider, log, options } = node.deps;
    try {
      const text = textOf(seed.value);
      const onProxyIgnored = () => this.#noticeProxy();
      const requests = requestsOfSeed(text, spider, rules, Date.now(), 'untrusted', onProxyIgnored);
      return { seed, requests: await within(options.mainLoopTimeoutMs, requests) };
    } catch (error) {
      const reason = messageOf(error);
      const shown = seed.value.subarray(0, SHOWN_BYTES).toString();
      node.deadEnds.note('bad seeds', `${shown}: ${reason}`, 'seed');
      log.warn({ key: seed.key, seed: shown, reason }, 'a bad seed was moved to the :bad list');
      return { seed, bad: reason };
    }
  }
}

/** @throws InvalidRequestError for what cannot be the text of a seed. */
function textOf(value: Buffer): string {
  if (value.length > MAX_SEED_BYTES) throw bad(`it has ${value.length} bytes, more than 1 MB`);
  if (!isUtf8(value)) throw bad('it is not valid UTF-8');
  return value.toString();
}

function bad(reason: string): InvalidRequestError {
  return new InvalidRequestError(`bad seed: ${reason}`, { code: 'bad_seed' });
}

/** A conversion that never ends would block all seeds behind it, and the crawl would wait for them for ever. */
async function within<T>(ms: number, conversion: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(bad(`makeRequestFromData took more than ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([conversion, late]);
  } finally {
    clearTimeout(timer);
  }
}
