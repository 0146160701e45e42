/** A lease with its settle as the queue grows. */
import { crawlInTurns } from './pages.mjs';
import { pushAll, requestOf } from './requests.mjs';
import { measure } from './stage.mjs';

const DOMAINS = 100;
/** Before each measurement: code gets warm, and what the push has left behind in the store is used up. */
const WARM_UP = 8_000;
const PAGES = 8_000;

export async function* growth(stage, { large }) {
  const frontier = await stage.join(stage.newCrawl());
  let pushed = 0;
  let first = null;
  for (const pending of [10_000, 100_000, 1_000_000, ...(large ? [10_000_000] : [])]) {
    const { pending: left } = await frontier.snapshot();
    const to = pushed + pending + WARM_UP + PAGES - left;
    await pushAll(frontier, pushed, to, (n) => requestOf(n, DOMAINS));
    pushed = to;
    await crawlInTurns(frontier, WARM_UP, 16);
    const cost = await measure(stage, PAGES, () => crawlInTurns(frontier, PAGES, 16));
    const us = cost.serverUs ?? cost.nodeUs;
    first ??= us;
    yield {
      what: `lease + settle among ${pending.toLocaleString('en')} pending`,
      ...cost,
      ratio: us / first,
      goals: { ratio: 1.5 },
    };
  }
}
