/** A lease with its settle, as many at once as there are; and with 100 links, all of them seen and sent all the same. */
import { crawlBySlots, crawlInTurns } from './pages.mjs';
import { pushAll, requestOf } from './requests.mjs';
import { measure } from './stage.mjs';

const PENDING = 60_000;
const PAGES = 4_000;
/** Each turn of the embedded engine waits for the disk. */
const MOST_TURNS = { redis: 4_000, embedded: 300 };

export async function* leases(stage) {
  for (const domains of [1, 1_000, 100_000]) {
    const frontier = await stage.join(stage.newCrawl());
    await pushAll(frontier, 0, Math.max(PENDING, 2 * domains), (n) => requestOf(n, domains));
    const of = `${domains.toLocaleString('en')} domain${domains === 1 ? '' : 's'}`;
    await crawlInTurns(frontier, PAGES, 16);
    for (const size of [1, 4, 16]) {
      const pages = Math.min(PAGES, size * MOST_TURNS[stage.engine]);
      const cost = await measure(stage, pages, () => crawlInTurns(frontier, pages, size));
      yield {
        what: `lease + settle, ${size} at once, ${of}`,
        ...cost,
        goals: size === 16 ? { serverUs: 30 } : {},
      };
    }
    const cost = await measure(stage, PAGES, () => crawlBySlots(frontier, PAGES, 16));
    yield { what: `lease + settle, 16 slots, ${of}`, ...cost };
  }
  const frontier = await stage.join(stage.newCrawl());
  await pushAll(frontier, 0, 2 * PAGES, (n) => requestOf(n, 1));
  const links = Array.from({ length: 100 }, (_, n) => requestOf(n, 1));
  const cost = await measure(stage, PAGES, () => crawlBySlots(frontier, PAGES, 16, links));
  yield { what: 'page of 100 seen links, 16 slots', ...cost, goals: { serverUs: 150 } };
}
