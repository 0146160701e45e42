/** R2, R10, R16 and R21: a store that stands still, a network that cuts replies, a flush, and files that cannot be written. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beginCrawl } from '../harness/crawling.mjs';
import { html, startSite } from '../harness/local-site.mjs';
import { crawl, endOf, look } from '../harness/project.mjs';
import { startProxy } from '../harness/proxy.mjs';
import { resumeDelays } from '../harness/recovery.mjs';
import { durable, startStore } from '../harness/redis.mjs';
import { until } from '../harness/stage.mjs';

const redis = ['redis'];
const both = ['redis', 'embedded'];
/** For how long a node waits for a store that cannot grow, before it is killed. */
const STANDS_STILL_MS = 5_000;
const SHUTDOWN_S = 4;
/** Beside SHUTDOWN_TIMEOUT, on a busy machine. */
const LATEST_END_MS = 20_000;
const CUT_BUDGET = 400;
/** What a node says of a settle without effect. */
const LOST_LEASE = 'was lost before it was settled';

export const standstills = [
  { row: 'R10', fault: 'redis-server stands still for 5 s', engines: redis, run: standstill },
  {
    row: 'R10',
    fault: `three replies in 100 cut off, 3 nodes with --max-pages ${CUT_BUDGET}; then to the end`,
    engines: redis,
    run: cutReplies,
  },
  { row: 'R2', fault: 'SIGTERM while redis-server stands still', engines: redis, run: termWhileAway },
  { row: 'R16', fault: 'the same, --workers 2, idle nodes', engines: redis, run: flushIdle },
  { row: 'R21', fault: 'two writers of one file', engines: both, run: twoWriters },
  { row: 'R21', fault: 'a file that may not grow', engines: both, run: fullDisk },
];

const slowSite = (pages, delayMs) => startSite({ pages, delayMs: () => delayMs });

async function standstill(row) {
  const crawling = await beginCrawl(row, { site: await slowSite(900, 30), nodes: 3 });
  await crawling.untilPart(0.1);
  const before = crawling.nodes.map((node) => node.lines().length);
  crawling.redis.signal('SIGSTOP');
  await sleep(STANDS_STILL_MS);
  crawling.redis.signal('SIGCONT');
  const at = Date.now();
  const verdict = await crawling.verdict();
  const lines = Math.max(...crawling.nodes.map((node, n) => node.lines().length - before[n]));
  return {
    ...verdict,
    recoveryMs: resumeDelays(verdict.log, [at]),
    note: `at most ${lines} log lines a node`,
  };
}

/** What a call that is sent again does twice would be leased for nobody, or counted for nobody. */
async function cutReplies(row) {
  const server = await startStore(durable);
  const proxy = await startProxy(server.port);
  proxy.state.cutChance = 0.03;
  const site = await slowSite(1_500, 20);
  const args = ['--max-pages', String(CUT_BUDGET)];
  const crawling = await beginCrawl(row, {
    site,
    nodes: 3,
    args,
    settings: { LOG_LEVEL: 'DEBUG' },
    redis: { ...server, url: proxy.url },
  });
  await crawling.ends();
  proxy.state.cutChance = 0;
  const cut = proxy.state.cut;
  const asked = site.requests.length;
  const told = crawling.nodes.map(({ out }) => Number(/ ([\d,]+)(?: of [\d,]+)? pages/.exec(out)?.[1] ?? 0));
  crawling.args = [];
  for (const n of [0, 1, 2]) crawling.start(n);
  const verdict = await crawling.verdict();
  if (asked !== CUT_BUDGET)
    verdict.problems.push(`${asked} pages were asked for under --max-pages ${CUT_BUDGET}`);
  const sum = told.reduce((total, pages) => total + pages, 0);
  if (sum !== CUT_BUDGET)
    verdict.problems.push(
      `the nodes counted ${told}; ${crawling.saidTimes(LOST_LEASE)} times a lease was lost`,
    );
  return { ...verdict, happened: { 'replies cut off': cut } };
}

async function termWhileAway(row) {
  const settings = { SHUTDOWN_TIMEOUT: SHUTDOWN_S };
  const crawling = await beginCrawl(row, { site: await slowSite(600, 50), nodes: 3, settings });
  await crawling.untilPart(0.15);
  await crawling.untilAllCrawl();
  crawling.redis.signal('SIGSTOP');
  const at = performance.now();
  for (const node of crawling.nodes) node.signal('SIGTERM');
  await sleep(1_000);
  crawling.nodes[2].signal('SIGTERM');
  const ends = await crawling.ends();
  const tookMs = crawling.nodes.map(({ endedAt }) => Math.round(endedAt - at));
  crawling.redis.signal('SIGCONT');
  for (const n of [0, 1, 2]) crawling.start(n);
  const verdict = await crawling.verdict();
  if (ends[2].code !== 143) verdict.problems.push(`two signals: ${JSON.stringify(ends[2])}`);
  if (Math.max(...tookMs) > LATEST_END_MS) verdict.problems.push(`ended only after ${tookMs} ms`);
  return { ...verdict, note: `ended after ${tookMs} ms with ${ends.map(({ code }) => code)}` };
}

async function flushIdle(row) {
  const site = await startSite({ pages: 20 });
  // A service node: it would stay.
  const crawling = await beginCrawl(row, { site, nodes: 0 });
  const node = crawl(crawling.project, [...site.args, '--workers', '2', '-o', 'items.jsonl']);
  await until(async () => (await crawling.stats()).done === 20, 'all to be done');
  await crawling.redis.db.flushall();
  const at = performance.now();
  const { code } = await endOf(node, 30_000);
  const problems = [];
  if (code !== 1) problems.push(`exit ${code}`);
  if (!/vanished|flushed/.test(node.said + node.out)) problems.push('no clear message');
  const keys = await crawling.redis.db.keys('*');
  if (keys.length > 0) problems.push(`wrote again: ${keys}`);
  return { problems, note: `exit ${code} after ${Math.round(node.endedAt - at)} ms` };
}

async function twoWriters(row) {
  // The first writes until the second has ended: the last page is answered then.
  const last = '/p99';
  let answerLast;
  const secondEnded = new Promise((resolve) => {
    answerLast = resolve;
  });
  const answer = (path, response) => {
    if (path === last) void secondEnded.then(() => html(response));
    return path === last;
  };
  const site = await startSite({ pages: 100, answer });
  const crawling = await beginCrawl(row, { site, nodes: 1 });
  await crawling.untilAllCrawl();
  const second = crawl(crawling.project, [...site.args, '--exit-when-done', '-o', 'n0.jsonl']);
  const { code } = await endOf(second);
  answerLast();
  const verdict = await crawling.verdict();
  if (code !== 3) verdict.problems.push(`the second ended with ${code}: ${second.said}`);
  return { ...verdict, note: `the second: exit ${code}` };
}

/** The size of every file is limited, as on a full disk a write fails; the store's own data stay below it on Redis. */
async function fullDisk(row) {
  const onRedis = row.engine === 'redis';
  // So many that the store is full on the embedded engine long before the last.
  const site = await slowSite(1_500, 5);
  const settings = { SHUTDOWN_TIMEOUT: 2, FEED_OUTBOX_LIMIT: 50 };
  const crawling = await beginCrawl(row, { site, nodes: 0, settings });
  const node = crawling.start(0, ['--workers', '1'], ['prlimit', `--fsize=${onRedis ? 2_000 : 400_000}`]);
  if (!onRedis) {
    // The store cannot grow either.
    await until(() => node.over() || node.said.includes('waiting for it'), 'the store to be full');
    await sleep(STANDS_STILL_MS);
    node.signal('SIGKILL');
  }
  const { code, signal } = await endOf(node);
  const { pending, done, outbox } = await look(crawling.project);
  const waiting = outbox.reduce((sum, feed) => sum + feed.waiting, 0);
  crawling.start(0, ['--workers', '1']);
  const verdict = await crawling.verdict();
  if (onRedis && code !== 1) verdict.problems.push(`ended with ${code ?? signal}: ${node.said.slice(-300)}`);
  const happened = { 'items and pages that the full disk left to the next run': waiting + pending };
  return { ...verdict, happened, note: `exit ${code ?? signal} after ${done} pages` };
}
