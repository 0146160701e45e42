/** A lease with its settle beside a hundred thousand domains that must wait. */
import { median, mediansOf } from '../median.mjs';
import { crawlInTurns } from './pages.mjs';
import { pushAll, requestOf } from './requests.mjs';
import { measure, openStage } from './stage.mjs';

const WAITING = 100_000;
const DOMAINS = WAITING + 1;
/** Of the embedded engine fewer and longer ones: a page of a turn costs from half to twice as much as the disk has it. */
const TURNS = { redis: { rounds: 80, pages: 640 }, embedded: { rounds: 10, pages: 3_000 } };
/** At the beginning of each turn, unmeasured: the first hundred pages cost up to twice as much, until the caches are this crawl's. */
const LEAD = 160;
/** As in `growth.mjs`: what the pushes have left behind in the store is used up by then. */
const WARM_UP = 8_000;
const AN_HOUR_MS = 3_600_000;

/**
 * Two crawls take turns, with as many pending requests: all of one domain in one of them, in the other a part of them in
 * domains that wait. What the number of requests costs is the matter of `growth.mjs`. The ratio is the median of those of
 * neighbouring turns. On Redis the two share a server, as two servers with the same content differ by up to 5 %, and one that
 * has served such a crawl and no other by as much again: its allocator has holes, among which Lua's objects lie. On the
 * embedded engine each has a store of its own, as a client reads again what it knows once another one has written.
 */
export async function* waiting(stage) {
  const other = stage.engine === 'redis' ? stage : await openStage(stage.engine);
  const { rounds, pages } = TURNS[stage.engine];
  const crawled = WARM_UP + rounds * (LEAD + pages);
  try {
    const alone = { stage, frontier: await crawlOfOneDomain(stage, crawled + WAITING), costs: [] };
    const beside = { stage: other, frontier: await crawlOfOneDomain(other, crawled), costs: [] };
    await haveOthersWait(beside.frontier);
    for (const { frontier } of [alone, beside]) await crawlInTurns(frontier, WARM_UP, 16);
    for (let round = 0; round < rounds; round++) {
      for (const crawl of round % 2 === 0 ? [alone, beside] : [beside, alone]) await takeTurn(crawl, pages);
    }
    yield { what: 'lease + settle, no domain waits', ...mediansOf(alone.costs) };
    yield {
      what: `lease + settle, ${WAITING.toLocaleString('en')} domains wait`,
      ...mediansOf(beside.costs),
      ratio: median(beside.costs.map((cost, round) => usOf(cost) / usOf(alone.costs[round]))),
      goals: { ratio: 1.1 },
    };
  } finally {
    if (other !== stage) await other.close();
  }
}

/** Numbers that leave no rest are of the one domain that is crawled. */
async function crawlOfOneDomain(stage, pending) {
  const frontier = await stage.join(stage.newCrawl());
  await pushAll(frontier, 1, pending + 1, (n) => requestOf(n * DOMAINS, DOMAINS));
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

async function takeTurn({ stage, frontier, costs }, pages) {
  await crawlInTurns(frontier, LEAD, 16);
  costs.push(await measure(stage, pages, () => crawlInTurns(frontier, pages, 16)));
}

const usOf = (cost) => cost.serverUs ?? cost.nodeUs;
