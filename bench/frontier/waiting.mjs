/** A lease with its settle beside a hundred thousand domains that must wait. */
import { crawlInTurns } from './pages.mjs';
import { pushAll, requestOf } from './requests.mjs';
import { measure } from './stage.mjs';

const WAITING = 100_000;
const PAGES = 4_000;
const AN_HOUR_MS = 3_600_000;

export async function* waiting(stage) {
  const frontier = await stage.join(stage.newCrawl());
  const domains = WAITING + 1;
  // Numbers that leave no rest are of the one domain that is crawled.
  await pushAll(frontier, 1, 8 * PAGES, (n) => requestOf(n * domains, domains));
  await crawlInTurns(frontier, PAGES, 16);
  const rounds = 3;
  const alone = await best(rounds, () => measure(stage, PAGES, () => crawlInTurns(frontier, PAGES, 16)));
  yield { what: 'lease + settle, no domain waits', ...alone };

  await pushAll(frontier, 1, domains, (n) => requestOf(n, domains));
  for (let at = 1; at < domains; at += 1_000) {
    await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        frontier.throttle(requestOf(at + n, domains).domain, { forMs: AN_HOUR_MS, source: 'retry-after' }),
      ),
    );
  }
  const beside = await best(rounds, () => measure(stage, PAGES, () => crawlInTurns(frontier, PAGES, 16)));
  const us = (cost) => cost.serverUs ?? cost.nodeUs;
  yield {
    what: `lease + settle, ${WAITING.toLocaleString('en')} domains wait`,
    ...beside,
    ratio: us(beside) / us(alone),
    goals: { ratio: 1.1 },
  };
}

/** The cheapest of some rounds: what is asked is a difference smaller than the machine's noise. */
async function best(rounds, run) {
  const costs = [];
  for (let round = 0; round < rounds; round++) costs.push(await run());
  return costs.sort((a, b) => (a.serverUs ?? a.nodeUs) - (b.serverUs ?? b.nodeUs))[0];
}
