/** R35: what sites see of a polite fleet, by their own access logs. */
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beginCrawl } from '../harness/crawling.mjs';
import { startSite } from '../harness/local-site.mjs';
import { startNginx } from '../harness/nginx.mjs';
import { atCleanUp, tempDir } from '../harness/stage.mjs';

const engines = ['redis', 'embedded'];
const DELAY_MS = 500;
const LEAST_GAP_MS = DELAY_MS - 50;
/** Of the speed that a site is crawled at without a slow one beside it. */
const LEAST_SPEED = 0.9;
const PAUSE_MS = 5_000;
const LATENCY_MS = 200;
/** A distance may differ from the formula by so much, for the sake of a busy machine. */
const AUTOTHROTTLE_TOLERANCE_MS = 150;

export const politeness = [
  {
    row: 'R35',
    fault: 'a domain with a delay of 0.5 s beside two without, 4 nodes: its distances, and their speed',
    // Speeds are compared, and a node that waits for the CPU after it began a download shortens a distance: nothing may run beside it.
    isAlone: true,
    isLong: true,
    engines,
    run: slowBesideQuick,
  },
  { row: 'R35', fault: '429 with Retry-After: 5, 4 nodes: nobody asks meanwhile', engines, run: retryAfter },
  {
    row: 'R35',
    fault: `AutoThrottle on a site with ${LATENCY_MS} ms of latency, 4 nodes: the distances follow Scrapy's formula`,
    isLong: true,
    engines,
    run: autoThrottle,
  },
];

/** Crawl sites to their end with four nodes. @returns the verdict */
async function crawlSites(row, sites, settings) {
  const site = {
    args: ['-a', `start=${sites.map(({ url }) => url).join(' ')}`],
    urls: sites.flatMap(({ urls }) => urls),
    log: async () => {
      const logs = await Promise.all(sites.map(({ log }) => log()));
      return logs.flatMap((log, n) => log.map((each) => ({ ...each, path: sites[n].origin + each.path })));
    },
  };
  const crawling = await beginCrawl(row, {
    site,
    settings: { CONCURRENT_REQUESTS_PER_DOMAIN: 4, ...settings },
  });
  return crawling.verdict();
}

async function slowBesideQuick(row) {
  const alone = await quickSites();
  const { problems } = await crawlSites(row, alone, {});
  const [slow, beside] = [await slowSite(40), await quickSites()];
  const slot = { [new URL(slow.url).host]: { delay: DELAY_MS / 1_000, randomize_delay: false } };
  const verdict = await crawlSites(row, [slow, ...beside], { DOWNLOAD_SLOTS: slot });
  const least = Math.min(...gapsOf(await slow.log()));
  verdict.problems.push(...problems);
  if (least < LEAST_GAP_MS) verdict.problems.push(`two requests ${least} ms apart`);
  const shares = beside.map((site, n) => speedOf(site) / speedOf(alone[n]));
  if (Math.min(...shares) < LEAST_SPEED) verdict.problems.push('a site without a delay was held up');
  const percent = shares.map((share) => `${(100 * share).toFixed(0)} %`).join(' and ');
  return { ...verdict, note: `least distance ${least} ms, the others at ${percent} of their speed` };
}

/**
 * A site of nginx, whose access log has the instants of its own clock: that of a site in this process shows each request late when this
 * process waits for the CPU, and then two of them too close.
 */
async function slowSite(pages) {
  const [root, dir] = [await tempDir('pages'), await tempDir('nginx')];
  // The worker of nginx is another user than root.
  await chmod(root, 0o755);
  const nameOf = (n) => (n === 0 ? 'index.html' : `p${n}.html`);
  for (let n = 0; n < pages; n++) {
    const links = [2 * n + 1, 2 * n + 2]
      .filter((to) => to < pages)
      .map((to) => `<a href="/${nameOf(to)}">link</a>`);
    await writeFile(path.join(root, nameOf(n)), `<html><body>${links.join('')}</body></html>`);
  }
  const { url, log, stop } = await startNginx(root, dir);
  atCleanUp(stop);
  const urls = Array.from({ length: pages }, (_, n) => (n === 0 ? url : url + nameOf(n)));
  return { url, origin: new URL(url).origin, urls, log };
}

/** Two sites whose speed is bound by their latency and the concurrency of a domain, not by this machine. */
function quickSites() {
  const hosts = ['127.0.0.3', '127.0.0.4'];
  return Promise.all(hosts.map((host) => startSite({ pages: 300, delayMs: () => LATENCY_MS, host })));
}

async function retryAfter(row) {
  let refusedAtMs = null;
  const answer = (path, response) => {
    if (path !== '/p20' || refusedAtMs !== null) return false;
    refusedAtMs = Date.now();
    response.writeHead(429, { 'retry-after': String(PAUSE_MS / 1_000) }).end();
    return true;
  };
  const site = await startSite({ pages: 60, host: '127.0.0.2', answer });
  const slot = { [new URL(site.url).host]: { delay: 0.1, randomize_delay: false } };
  const verdict = await crawlSites(row, [site], { DOWNLOAD_SLOTS: slot });
  const next = site.requests.find(({ startMs }) => startMs > refusedAtMs);
  const pauseMs = (next?.startMs ?? Number.POSITIVE_INFINITY) - refusedAtMs;
  if (!(pauseMs > PAUSE_MS - 50 && pauseMs < 2 * PAUSE_MS)) verdict.problems.push(`a pause of ${pauseMs} ms`);
  return {
    ...verdict,
    happened: { refusals: Number(refusedAtMs !== null) },
    note: `a pause of ${pauseMs} ms`,
  };
}

async function autoThrottle(row) {
  const site = await startSite({ pages: 40, host: '127.0.0.2', delayMs: () => LATENCY_MS });
  const verdict = await crawlSites(row, [site], {
    AUTOTHROTTLE_ENABLED: true,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  });
  const gaps = gapsOf(site.requests);
  let delayMs = 5_000;
  for (const [n, gap] of gaps.slice(0, 10).entries()) {
    if (Math.abs(gap - delayMs) > AUTOTHROTTLE_TOLERANCE_MS)
      verdict.problems.push(`distance ${n} is ${gap} ms, not ${delayMs.toFixed(0)}`);
    delayMs = Math.max(LATENCY_MS, (delayMs + LATENCY_MS) / 2);
  }
  const late = gaps.slice(10).sort((a, b) => a - b);
  const median = late[late.length >> 1];
  if (median > LATENCY_MS + AUTOTHROTTLE_TOLERANCE_MS) verdict.problems.push('the delay does not converge');
  return { ...verdict, note: `first ${gaps.slice(0, 6).join(' ')} ms, in the end ${median} ms` };
}

function gapsOf(requests) {
  const times = requests.map(({ startMs }) => startMs).sort((a, b) => a - b);
  return times.slice(1).map((time, n) => time - times[n]);
}

/** Pages a second between the first request and the end of the last one. */
function speedOf({ requests }) {
  const first = Math.min(...requests.map(({ startMs }) => startMs));
  return (1_000 * requests.length) / (Math.max(...requests.map(({ endMs }) => endMs)) - first);
}
