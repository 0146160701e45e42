/** A lease with its settle beside a hundred thousand domains that must wait. */
import { crawlInTurns } from './pages.mjs';
import { pushAll, requestOf } from './requests.mjs';
import { measure, openStage } from './stage.mjs';

const WAITING = 100_000;
const DOMAINS = WAITING + 1;
const PAGES = 4_000;
const ROUNDS = 7;
const CRAWLED = (ROUNDS + 2) * PAGES;
const AN_HOUR_MS = 3_600_000;

/**
 * Two stores take turns, with as many pending requests: all of one domain in one of them, in the other a part of them
 * in domains that wait. What the number of requests costs is the matter of `growth.mjs`.
 */
export async function* waiting(stage) {
  const other = await openStage(stage.engine);
  try {
    const subjects = [
      {
        what: 'lease + settle, no domain waits',
        stage,
        frontier: await crawlOfOneDomain(stage, CRAWLED + WAITING),
        costs: [],
      },
      {
        what: `lease + settle, ${WAITING.toLocaleString('en')} domains wait`,
        stage: other,
        frontier: await crawlOfOneDomain(other, CRAWLED),
        costs: [],
      },
    ];
    await haveOthersWait(subjects[1].frontier);
    for (let round = 0; round < ROUNDS; round++) {
      for (const { stage: store, frontier, costs } of subjects) {
        costs.push(await measure(store, PAGES, () => crawlInTurns(frontier, PAGES, 16)));
      }
    }
    const [alone, beside] = subjects.map(({ what, costs }) => ({ what, ...best(costs) }));
    yield alone;
    yield { ...beside, ratio: usOf(beside) / usOf(alone), goals: { ratio: 1.1 } };
  } finally {
    await other.close();
  }
}

/** Numbers that leave no rest are of the one domain that is crawled. */
async function crawlOfOneDomain(stage, pending) {
  const frontier = await stage.join(stage.newCrawl());
  await pushAll(frontier, 1, pending, (n) => requestOf(n * DOMAINS, DOMAINS));
  await crawlInTurns(frontier, PAGES, 16);
  return frontier;
}

async function haveOthersWait(frontier) {
  await pushAll(frontier, 1, DOMAINS, (n) => requestOf(n, DOMAINS));
  for (let at = 1; at < DOMAINS; at += 1_000) {
    await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        frontier.throttle(requestOf(at + n, DOMAINS).domain, { forMs: AN_HOUR_MS, source: 'retry-after' }),
      ),
    );
  }
}

const usOf = (cost) => cost.serverUs ?? cost.nodeUs;

/** The cheapest round: what is asked is a difference smaller than the machine's noise. */
const best = (costs) => costs.toSorted((a, b) => usOf(a) - usOf(b))[0];
