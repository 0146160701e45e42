/**
 * What every frontier engine owes, told through the seam alone: nothing here knows keys, scripts or files.
 * Each engine's test calls `frontierContract` with a way to open a fresh crawl. Time is real, so durations are
 * small and nothing sleeps: a test waits for a condition, with a bound. Every test ends with `verify()`.
 */
import { afterEach, beforeEach, describe } from 'vitest';
import { assessments } from './assessments.js';
import { autothrottle } from './autothrottle.js';
import { backups } from './backups.js';
import { budgets } from './budgets.js';
import { changedFeeds } from './changed-feeds.js';
import { clockBack } from './clock-back.js';
import { completion } from './completion.js';
import { cookies } from './cookies.js';
import { customStats } from './custom-stats.js';
import { deferring } from './deferring.js';
import { domainLimits } from './domain-limits.js';
import { domainPages } from './domain-pages.js';
import { dupefilters } from './dupefilters.js';
import { earlyLinks } from './early-links.js';
import { epochs } from './epochs.js';
import { fairness } from './fairness.js';
import { feeds } from './feeds.js';
import { flushing } from './flushing.js';
import { hostile } from './hostile.js';
import { idleHooks } from './idle-hooks.js';
import { ignoredPages } from './ignored-pages.js';
import { losses } from './losses.js';
import { order } from './order.js';
import { orderWalk } from './order-walk.js';
import { pipelineOutboxes } from './pipeline-outboxes.js';
import { politeness } from './politeness.js';
import { push } from './push.js';
import { queueLimit } from './queue-limit.js';
import { recovery } from './recovery.js';
import { repair } from './repair.js';
import { robots } from './robots.js';
import { runs } from './runs.js';
import { seeds } from './seeds.js';
import { settling } from './settling.js';
import { starting } from './starting.js';
import { suspects } from './suspects.js';
import { telemetry } from './telemetry.js';
import { upkeep } from './upkeep.js';
import { validators } from './validators.js';
import { walk } from './walk.js';
import { Crawl, type World } from './world.js';

export type { World } from './world.js';

/** Run the whole contract on one engine; `openWorld` gives a fresh, empty crawl each time. */
export function frontierContract(name: string, openWorld: () => Promise<World>): void {
  describe(`the ${name} frontier`, { timeout: 30_000 }, () => {
    let crawl: Crawl | undefined;
    beforeEach(async () => {
      crawl = new Crawl(await openWorld());
    });
    afterEach(async () => {
      await crawl?.end();
      crawl = undefined;
    });
    const current = (): Crawl => {
      if (crawl === undefined) throw new Error('the crawl of this test is not open');
      return crawl;
    };
    for (const chapter of [
      push,
      earlyLinks,
      order,
      orderWalk,
      politeness,
      fairness,
      domainLimits,
      autothrottle,
      deferring,
      robots,
      settling,
      cookies,
      customStats,
      validators,
      ignoredPages,
      epochs,
      recovery,
      clockBack,
      suspects,
      runs,
      budgets,
      completion,
      starting,
      idleHooks,
      flushing,
      queueLimit,
      domainPages,
      seeds,
      feeds,
      pipelineOutboxes,
      backups,
      upkeep,
      telemetry,
      assessments,
      repair,
      losses,
      changedFeeds,
      hostile,
      walk,
    ]) {
      chapter(current);
    }
    dupefilters(openWorld);
  });
}
