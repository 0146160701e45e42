/**
 * What sites see of a polite fleet, by their own access logs. Four nodes as processes of their own on one Redis, or with
 * `embedded` on one folder:
 *
 * - a delay of 0.5 s for domain A alone (DOWNLOAD_SLOTS): no two requests to A are closer than 450 ms, and B and C are crawled
 *   at 90 % or more of their speed without A;
 * - one 429 with `Retry-After: 5` from A: no node asks A for five seconds;
 * - AutoThrottle on a site with 200 ms of latency: the distances of its requests follow Scrapy's formula.
 *
 * Needs a build: `node scripts/proof/politeness.mjs [embedded]`, about two minutes. Exit code 1 when a limit does not hold.
 */
import { cleanUp, crawl, endOf, judge, newProject, startRedis, startSite } from './faults/stage.mjs';

const NODES = 4;
const LEAST_GAP_MS = 450;
const LEAST_SPEED = 0.9;
const PAUSE_MS = 5_000;
const LATENCY_MS = 200;
/** A distance may differ from the formula by so much, for the sake of a busy machine. */
const AUTOTHROTTLE_TOLERANCE_MS = 150;

const isEmbedded = process.argv[2] === 'embedded';
const problems = [];

try {
  await slots();
  await retryAfter();
  await autoThrottle();
  console.log(problems.length === 0 ? 'held' : `FAILED: ${problems.join('; ')}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await cleanUp();
}

async function slots() {
  const without = await crawlSites(await busySites(), {});
  const [a, bAndC] = [await startSite({ pages: 40, host: '127.0.0.2' }), await busySites()];
  const slot = { [new URL(a.url).host]: { delay: 0.5, randomize_delay: false } };
  await crawlSites([a, ...bAndC], { DOWNLOAD_SLOTS: slot });
  const gaps = gapsOf(a);
  console.log(`A, delay 0.5 s: ${a.log.length} requests, least distance ${Math.min(...gaps).toFixed(0)} ms`);
  if (Math.min(...gaps) < LEAST_GAP_MS)
    problems.push(`two requests to A ${Math.min(...gaps).toFixed(0)} ms apart`);
  for (const [n, name] of ['B', 'C'].entries()) {
    const [before, after] = [speedOf(without[n]), speedOf(bAndC[n])];
    const share = after / before;
    console.log(
      `${name}: ${before.toFixed(1)} pages/s without A, ${after.toFixed(1)} beside A (${(100 * share).toFixed(0)} %)`,
    );
    if (share < LEAST_SPEED) problems.push(`${name} at ${(100 * share).toFixed(0)} % of its speed`);
  }
}

/** Two sites whose speed is bound by their latency and the concurrency of a domain, not by this machine. */
function busySites() {
  return Promise.all(
    ['127.0.0.3', '127.0.0.4'].map((host) => startSite({ pages: 300, delayMs: () => LATENCY_MS, host })),
  );
}

async function retryAfter() {
  let refusedAtMs = null;
  const answer = (path, response) => {
    if (path !== '/p20' || refusedAtMs !== null) return false;
    refusedAtMs = performance.now();
    response.writeHead(429, { 'retry-after': '5' }).end();
    return true;
  };
  const site = await startSite({ pages: 60, host: '127.0.0.2', answer });
  const slot = { [new URL(site.url).host]: { delay: 0.1, randomize_delay: false } };
  await crawlSites([site], { DOWNLOAD_SLOTS: slot });
  const next = site.log.find(({ atMs }) => atMs > refusedAtMs);
  const pauseMs = (next?.atMs ?? Number.POSITIVE_INFINITY) - refusedAtMs;
  console.log(`Retry-After: 5: the next request of any node came after ${pauseMs.toFixed(0)} ms`);
  if (!(pauseMs > PAUSE_MS - 50 && pauseMs < 2 * PAUSE_MS))
    problems.push(`a pause of ${pauseMs.toFixed(0)} ms`);
}

async function autoThrottle() {
  const site = await startSite({ pages: 40, host: '127.0.0.2', delayMs: () => LATENCY_MS });
  await crawlSites([site], { AUTOTHROTTLE_ENABLED: true, RANDOMIZE_DOWNLOAD_DELAY: false });
  const gaps = gapsOf(site);
  let delayMs = 5_000;
  const expected = gaps.map(() => {
    const gap = delayMs;
    delayMs = Math.max(LATENCY_MS, (delayMs + LATENCY_MS) / 2);
    return gap;
  });
  console.log(`AutoThrottle, distances:       ${gaps.slice(0, 12).map(Math.round).join(' ')} ms`);
  console.log(`Scrapy's formula, ${LATENCY_MS} ms: ${expected.slice(0, 12).map(Math.round).join(' ')} ms`);
  const late = gaps.slice(10).sort((x, y) => x - y);
  console.log(`afterwards ${late.length} distances, median ${late[late.length >> 1].toFixed(0)} ms`);
  for (const [n, gap] of gaps.slice(0, 10).entries()) {
    if (Math.abs(gap - expected[n]) > AUTOTHROTTLE_TOLERANCE_MS)
      problems.push(`distance ${n} is ${gap.toFixed(0)} ms`);
  }
  if (late[late.length >> 1] > LATENCY_MS + AUTOTHROTTLE_TOLERANCE_MS)
    problems.push('the delay does not converge');
}

/** Crawl sites to their end with four nodes, and judge that nothing was lost. */
async function crawlSites(sites, settings) {
  const project = await newProject(isEmbedded ? null : await startRedis(), {
    CONCURRENT_REQUESTS_PER_DOMAIN: 4,
    ...settings,
  });
  const start = sites.map(({ url }) => url).join(' ');
  const nodes = Array.from({ length: NODES }, (_, n) =>
    crawl(project, ['-a', `start=${start}`, '--exit-when-done', '-o', `n${n}.jsonl`]),
  );
  for (const { code } of await Promise.all(nodes.map((node) => endOf(node)))) {
    if (code !== 0) problems.push(`a node ended with ${code}`);
  }
  const log = sites.flatMap((site) => site.log);
  const judged = await judge({ log, urls: sites.flatMap(({ urls }) => urls) }, project);
  problems.push(...judged.problems);
  return sites;
}

function gapsOf({ log }) {
  const times = log.map(({ atMs }) => atMs).sort((x, y) => x - y);
  return times.slice(1).map((time, n) => time - times[n]);
}

/** Pages a second between the first request and the end of the last one. */
function speedOf({ log }) {
  const first = Math.min(...log.map(({ atMs }) => atMs));
  return (1_000 * log.length) / (Math.max(...log.map(({ endMs }) => endMs)) - first);
}
