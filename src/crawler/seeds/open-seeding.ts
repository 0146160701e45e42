/**
 * Seeds taken into one crawl: made into requests by its spider, judged by the rules of the crawl, and pushed as its queue
 * has room; or appended to start_urls as they are, for a node to take in.
 */
import { inRun, type LinkRules, linkRules, runFor } from '../../engine/page/discovered-requests.js';
import { requestsOfSeed } from '../../engine/seeds/seed-requests.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import type { Spider } from '../../spider/spider.js';
import { linkOptionsOf } from '../project/engine-settings.js';
import { appendSeeds, type PushOptions, pushSeeds } from './push-seeds.js';
import { type FullQueue, pushWithinRoom } from './queue-room.js';
import type { SeedCounts, SeedText } from './seed-text.js';

/** What a seeding is about. */
export interface SeedingPlan {
  readonly frontier: Pick<Frontier, 'push' | 'snapshot' | 'appendSeeds'>;
  /** As the crawl uses it. */
  readonly spider: Spider;
  readonly settings: Settings;
  /** Append the seeds to start_urls as they are. */
  readonly toStartUrls: boolean;
}

/** Who hears of a seeding, and what ends it. */
export interface SeedingWatch {
  /** Hears of a seed that is none. */
  readonly onBad: PushOptions['onBad'];
  /** Told when a wait for room in the queue begins, and, with null, when it is over. */
  onWait(full: FullQueue | null): void;
  /** Aborted to end the input here; what was read is still pushed. */
  readonly stop: AbortSignal;
}

/** A seeding that can begin. */
export interface Seeding {
  /** Matches URLs within the spider's `allowedDomains`; null when it has none. */
  readonly onsite: RegExp | null;
  /** The seeds go to start_urls unasked: SCHEDULER_FLUSH_ON_START would clear them out of the queue. */
  readonly isFlushed: boolean;
  /** They go to start_urls, asked or not. */
  readonly isRaw: boolean;
  /** Take seeds until the input ends, adding to `counts`. @throws what the frontier throws */
  take(seeds: AsyncIterable<SeedText>, counts: SeedCounts, watch: SeedingWatch): Promise<void>;
}

/** @throws SpiderLoadError for bad `refresh` rules; what the frontier throws */
export async function openSeeding(plan: SeedingPlan): Promise<Seeding> {
  const { frontier, spider, settings, toStartUrls } = plan;
  const rules = await rulesNow(plan);
  const isFlushed = settings.SCHEDULER_FLUSH_ON_START && !toStartUrls;
  const isRaw = isFlushed || toStartUrls;
  return {
    onsite: rules.onsite,
    isFlushed,
    isRaw,
    take(seeds, counts, { onBad, onWait, stop }) {
      if (isRaw) return appendSeeds(frontier, seeds, counts, { onBad, stop });
      const room = pushWithinRoom({ frontier, limit: settings.SCHEDULER_QUEUE_LIMIT, onWait, stop });
      const kind = settings.SEEDS_FILTERED ? 'seeds-filtered' : 'seeds';
      const convert = ({ text, trust = 'trusted' }: SeedText) =>
        requestsOfSeed(text, spider, rules, Date.now(), trust);
      return pushSeeds(room, seeds, counts, { kind, convert, onBad, stop });
    },
  };
}

/** Requests that a refresh rule lets be fetched again are those of the crawl's run, where one is on. */
async function rulesNow({ frontier, spider, settings }: SeedingPlan): Promise<LinkRules> {
  const rules = linkRules(spider, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
  return rules.refresh === null ? rules : inRun(rules, runFor((await frontier.snapshot()).run));
}
