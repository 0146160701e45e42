/**
 * Add seeds to a crawl. Either the spider turns them into requests, which are pushed as the queue has room, or they are
 * appended unchanged to start_urls, where a node reads them.
 */

import type { Frontier, Snapshot } from '../../frontier/frontier.js';
import { inRun, type LinkRules, linkRules, runFor } from '../../node/links/filter-links.js';
import { requestsOfSeed, seedRequest } from '../../node/seeds/seed-requests.js';
import type { Settings } from '../../settings/schema.js';
import type { Spider } from '../../spider/spider.js';
import { linkOptionsOf } from '../project/settings-to-options.js';
import { otherIdentity } from '../requests/identify-request.js';
import { appendSeeds, type PushOptions, pushSeeds } from './push-seeds.js';
import { type FullQueue, pushWithinRoom } from './queue-room.js';
import type { SeedCounts, SeedText } from './seed-text.js';

/** Options of a seeding. */
export interface SeedingPlan {
  readonly frontier: Pick<Frontier, 'push' | 'snapshot' | 'appendSeeds'>;
  /** As the crawl uses it. */
  readonly spider: Spider;
  readonly settings: Settings;
  /** Append the seeds to start_urls unchanged. */
  readonly toStartUrls: boolean;
}

/** Callbacks of a seeding, and its stop signal. */
export interface SeedingWatch {
  /** Called with each bad seed. */
  readonly onBad: PushOptions['onBad'];
  /** Called when a wait for room in the queue begins, and with null when it is over. */
  onWait(full: FullQueue | null): void;
  /** Aborted to stop reading. Seeds that were already read are still pushed. */
  readonly stop: AbortSignal;
}

/** A seeding that is ready to start. */
export interface Seeding {
  /** Matches URLs within the spider's `allowedDomains`; null when it has none. */
  readonly onsite: RegExp | null;
  /** The seeds go to start_urls because SCHEDULER_FLUSH_ON_START would delete them from the queue. */
  readonly isFlushed: boolean;
  /** The seeds go to start_urls, for either reason. */
  readonly isRaw: boolean;
  /** Add all seeds of the input, and update `counts`. @throws errors of the frontier */
  take(seeds: AsyncIterable<SeedText>, counts: SeedCounts, watch: SeedingWatch): Promise<void>;
}

/**
 * @throws SpiderLoadError for bad `refresh` rules; RefusedError if nodes of this crawl identify requests in another way;
 *   errors of the frontier
 */
export async function openSeeding(plan: SeedingPlan): Promise<Seeding> {
  const { frontier, spider, settings, toStartUrls } = plan;
  const isFlushed = settings.SCHEDULER_FLUSH_ON_START && !toStartUrls;
  const isRaw = isFlushed || toStartUrls;
  const snapshot = await frontier.snapshot();
  // Seeds in start_urls are identified by the node that reads them.
  const refusal = isRaw ? null : otherIdentity(snapshot.shape, settings);
  if (refusal !== null) throw refusal;
  const rules = currentRules(plan, snapshot);
  return {
    onsite: rules.onsite,
    isFlushed,
    isRaw,
    take(seeds, counts, { onBad, onWait, stop }) {
      if (isRaw) return appendSeeds(frontier, seeds, counts, { onBad, stop });
      const room = pushWithinRoom({ frontier, limit: settings.SCHEDULER_QUEUE_LIMIT, onWait, stop });
      const kind = settings.SEEDS_FILTERED ? 'seeds-judged' : 'seeds';
      let made = 0;
      const convert = async ({ text, request, trust = 'trusted' }: SeedText) => {
        if (request === undefined) return requestsOfSeed(text, spider, rules, Date.now(), trust);
        return [seedRequest(request, made++, spider, rules, Date.now(), trust)];
      };
      return pushSeeds(room, seeds, counts, { kind, convert, onBad, stop });
    },
  };
}

/** The link rules. With refresh rules they include the current run of the crawl, if there is one. */
function currentRules({ spider, settings }: SeedingPlan, { run }: Snapshot): LinkRules {
  const rules = linkRules(spider, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
  return rules.refresh === null ? rules : inRun(rules, runFor(run));
}
