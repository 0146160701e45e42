/**
 * What every frontier engine owes, told through the seam alone: nothing here knows keys, scripts or files.
 * Each engine's test calls `frontierContract` with a way to open a fresh crawl. Time is real, so durations are
 * small and nothing sleeps: a test waits for a condition, with a bound. Every test ends with `verify()`.
 */
import { afterEach, beforeEach, describe } from 'vitest';
import { backups } from './frontier-contract/backups.js';
import { budgets } from './frontier-contract/budgets.js';
import { completion } from './frontier-contract/completion.js';
import { dupefilters } from './frontier-contract/dupefilters.js';
import { epochs } from './frontier-contract/epochs.js';
import { feeds } from './frontier-contract/feeds.js';
import { flushing } from './frontier-contract/flushing.js';
import { hostile } from './frontier-contract/hostile.js';
import { order } from './frontier-contract/order.js';
import { orderWalk } from './frontier-contract/order-walk.js';
import { politeness } from './frontier-contract/politeness.js';
import { push } from './frontier-contract/push.js';
import { queueLimit } from './frontier-contract/queue-limit.js';
import { recovery } from './frontier-contract/recovery.js';
import { repair } from './frontier-contract/repair.js';
import { runs } from './frontier-contract/runs.js';
import { seeds } from './frontier-contract/seeds.js';
import { settling } from './frontier-contract/settling.js';
import { suspects } from './frontier-contract/suspects.js';
import { upkeep } from './frontier-contract/upkeep.js';
import { walk } from './frontier-contract/walk.js';
import { Crawl, type World } from './frontier-contract/world.js';

export type { World } from './frontier-contract/world.js';

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
      order,
      orderWalk,
      politeness,
      settling,
      epochs,
      recovery,
      suspects,
      runs,
      budgets,
      completion,
      flushing,
      queueLimit,
      seeds,
      feeds,
      backups,
      upkeep,
      repair,
      hostile,
      walk,
    ]) {
      chapter(current);
    }
    dupefilters(openWorld);
  });
}
