/**
 * External seeds, taken in beside the crawl: peek, convert, commit (DESIGN §5, Seed intake). Two nodes may convert
 * the same seed; the store lets one commit it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CrawlnodeError, messageOf } from '../errors.js';
import type { ConvertedSeed, CrawlState, Frontier, RawSeed } from '../frontier/frontier.js';
import type { Logger } from '../log.js';
import type { Spider } from '../spider/spider.js';
import type { Alarm } from './alarm.js';
import type { LinkRules } from './discovered.js';
import { concernsNode } from './node-errors.js';
import { requestsOfSeed } from './seed-requests.js';

/** Nodes see new seeds at about the same time; those that wait a little longer find them gone already. */
const JITTER_MS = 50;
/** How much of a bad seed a log line shows. */
const SHOWN_CHARS = 200;

export interface SeedIntakeOptions {
  readonly frontier: Frontier;
  readonly spider: Spider;
  readonly rules: LinkRules;
  readonly batch: number;
  readonly alarm: Alarm;
  readonly log: Logger;
}

export class SeedIntake {
  readonly #options: SeedIntakeOptions;
  #running = false;
  #said = '';

  constructor(options: SeedIntakeOptions) {
    this.#options = options;
  }

  /** Take in one batch, if there is one to take and none is on its way. Never waits. */
  offer(crawl: CrawlState): void {
    if (this.#running || crawl.seedsWaiting === 0) return;
    if (crawl.control !== 'running' || crawl.closing !== null || crawl.full) return;
    this.#running = true;
    void this.#takeBatch(crawl.seedsWaiting).then(() => {
      this.#running = false;
      this.#options.alarm.ring();
    });
  }

  /** Never rejects: a store that is away, or an incarnation that died, is the loop's to notice. */
  async #takeBatch(waiting: number): Promise<void> {
    const { frontier, batch, log } = this.#options;
    await sleep(Math.random() * JITTER_MS);
    try {
      const seeds = await frontier.peekSeeds(Math.min(batch, waiting));
      if (seeds.length === 0) return;
      const converted = await Promise.all(seeds.map((seed) => this.#convert(seed)));
      const answer = await frontier.intake(converted);
      log.debug({ ...answer }, 'took in seeds');
    } catch (error) {
      this.#sayOnce(error);
    }
  }

  /** The loop meets a store that is away, or the death of the incarnation, by itself; anything else is said here. */
  #sayOnce(error: unknown): void {
    const { log } = this.#options;
    const what = error instanceof CrawlnodeError ? error.message : String(error);
    const isTheLoops = concernsNode(error);
    const say = isTheLoops || what === this.#said ? log.debug : log.warn;
    say.call(log, { error: what }, 'seeds could not be taken in; they stay where they are');
    if (!isTheLoops) this.#said = what;
  }

  async #convert(seed: RawSeed): Promise<ConvertedSeed> {
    const { spider, rules, log } = this.#options;
    const text = seed.value.toString('utf8');
    try {
      return { seed, requests: await requestsOfSeed(text, spider, rules, Date.now()) };
    } catch (error) {
      const reason = messageOf(error);
      log.warn({ key: seed.key, seed: text.slice(0, SHOWN_CHARS), reason }, 'a bad seed was put aside');
      return { seed, bad: reason };
    }
  }
}
