/**
 * R25: the clock of the store is set back or forward by an hour during a crawl, or back between two runs of it. It goes on, and no node
 * counts as dead.
 */
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';
import { durable, startStore } from '../harness/redis.mjs';
import { steppedClock } from '../harness/stepped-clock.mjs';

const HOUR_S = 3_600;
const PAGES = 100;
/** Without a request. The crawl has one in 0.1 s otherwise; a step may cost a heartbeat. */
const LONGEST_STANDSTILL_MS = 8_000;
const FALSE_DEATH = 'sent no heartbeat';
const WARNING = 'the clock of the store is';

export const clockSteps = [
  ['back by an hour, in a crawl', -HOUR_S, false],
  ['forward by an hour, in a crawl', HOUR_S, false],
  ['an hour earlier at the next run of a crawl', -HOUR_S, true],
].map(([step, seconds, isBetween]) => ({
  row: 'R25',
  fault: `the store's clock is set ${step} with a delay and retries on 2 nodes`,
  engines: ['redis', 'embedded'],
  run: (row) => stepClock(row, seconds, isBetween),
}));

async function stepClock(row, seconds, isBetween) {
  const clock = await steppedClock();
  const onRedis = row.engine === 'redis';
  const failures = new Map([
    ['/p30', 2],
    ['/p60', 2],
  ]);
  const answer = (path, response) => {
    const left = failures.get(path) ?? 0;
    if (left === 0) return false;
    failures.set(path, left - 1);
    response.writeHead(503).end();
    return true;
  };
  const site = await startSite({ pages: PAGES, answer });
  const redis = onRedis ? await startStore(durable, { env: clock.env }) : undefined;
  const settings = { DOWNLOAD_DELAY: 0.1, RETRY_BACKOFF: 0.5, NODE_TIMEOUT: 6 };
  const crawling = await beginCrawl(row, { site, nodes: 0, redis, settings });
  // The embedded store has the clock of its nodes.
  const wrap = onRedis ? [] : ['env', ...Object.entries(clock.env).map((pair) => pair.join('='))];
  for (const n of [0, 1]) crawling.start(n, [], wrap);
  await crawling.untilAllCrawl();
  await crawling.untilPart(0.25);
  const times = Number(!crawling.isOver);
  if (isBetween) {
    for (const node of crawling.nodes) node.signal('SIGTERM');
    await crawling.ends();
  }
  const atMs = Date.now();
  clock.set(seconds);
  if (isBetween) for (const n of [0, 1]) crawling.start(n, [], wrap);
  const verdict = await crawling.verdict();
  const starts = verdict.log.map(({ startMs }) => startMs).filter((startMs) => startMs >= atMs);
  const standstillMs = Math.max(0, ...starts.map((startMs, n) => startMs - (starts[n - 1] ?? atMs)));
  if (standstillMs > LONGEST_STANDSTILL_MS) verdict.problems.push(`a standstill of ${standstillMs} ms`);
  const deaths = crawling.saidTimes(FALSE_DEATH);
  if (deaths > 0) verdict.problems.push(`${deaths} nodes counted as dead by the step alone`);
  if (verdict.refetched > 4) verdict.problems.push(`${verdict.refetched - 4} pages were fetched again`);
  const happened =
    seconds < 0 && !isBetween
      ? { 'warnings of the clock': crawling.saidTimes(WARNING) }
      : { 'clocks that show the step': Number(await isStepped(crawling, seconds)) };
  return { ...verdict, times, happened, note: `a standstill of ${standstillMs} ms` };
}

/** By the server, or by the log of a node. */
async function isStepped({ redis, lives }, seconds) {
  const isFar = (atS) => Math.abs(Date.now() / 1_000 + seconds - atS) < Math.abs(seconds) / 2;
  if (redis !== null) return isFar(Number((await redis.db.time())[0]));
  return lives.some((node) => node.lines().some(({ time }) => isFar(Date.parse(time) / 1_000)));
}
