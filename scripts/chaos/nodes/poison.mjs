/** R4, R5 and R6: pages that kill or block the node that processes them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beginCrawl } from '../harness/crawling.mjs';
import { html, startSite } from '../harness/local-site.mjs';
import { endOf } from '../harness/project.mjs';

const engines = ['redis', 'embedded'];
const MOST_CRASHES = 3;

export const poison = [
  {
    row: 'R4',
    fault: 'main loop blocked for 2 × NODE_TIMEOUT',
    engines,
    run: blocked,
  },
  { row: 'R5', fault: 'while (true), MAIN_LOOP_TIMEOUT 2', engines, run: endless },
  ...['exit', 'abort'].flatMap((kind) => [
    {
      row: 'R6',
      fault: `process.${kind} among 50, --workers 2`,
      engines,
      run: (row) => workers(row, kind),
    },
    {
      row: 'R6',
      fault: `process.${kind}, 3 processes in a loop`,
      engines,
      run: (row) => supervised(row, kind),
    },
  ]),
];

/** 51 pages that all stand on the first, so that the poison is in progress with its fullest company. */
async function poisonedSite() {
  const links = Array.from({ length: 50 }, (_, n) => `/p${n}`);
  const site = await startSite({
    answer(path, response) {
      if (path === '/') html(response, [...links.slice(0, 7), '/bad', ...links.slice(7)]);
      else if (path === '/bad') html(response);
      else setTimeout(() => html(response), 40);
      return true;
    },
  });
  return { ...site, urls: [site.url, ...links.map((link) => site.origin + link)] };
}

/** All good pages, and one failed as `crashed` after it was tried so often. */
async function verdictOf(crawling) {
  const verdict = await crawling.verdict({ failures: 1 });
  const failures = await crawling.failures();
  const tries = verdict.log.filter(({ path }) => path === '/bad').length;
  const crashed = failures.filter(({ reason }) => reason === 'crashed');
  if (crashed.length !== 1) verdict.problems.push(`failed as ${failures.map(({ reason }) => reason)}`);
  if (tries !== MOST_CRASHES) verdict.problems.push(`the page was fetched ${tries} times`);
  const happened = { 'deaths of a process by the page': tries };
  return { ...verdict, happened };
}

async function workers(row, kind) {
  const args = ['-a', `${kind}=/bad`, '--workers', '2'];
  return verdictOf(await beginCrawl(row, { site: await poisonedSite(), nodes: 1, args }));
}

/** Each process is started again until one has ended by itself in good order. */
async function supervised(row, kind) {
  const crawling = await beginCrawl(row, {
    site: await poisonedSite(),
    nodes: 3,
    args: ['-a', `${kind}=/bad`],
  });
  let isOver = false;
  const supervise = async (n) => {
    for (;;) {
      const node = crawling.nodes[n];
      await endOf(node);
      // A process.exit(0) in a callback looks like a good end, but prints no summary.
      if (node.out.includes('walk: ') || isOver) break;
      await sleep(200);
      crawling.start(n);
    }
    isOver = true;
  };
  await Promise.all([0, 1, 2].map(supervise));
  // Whoever died last, when another had ended the crawl, has a file to complete.
  for (const [n, node] of crawling.nodes.entries()) if (!node.out.includes('walk: ')) crawling.start(n);
  return verdictOf(crawling);
}

async function blocked(row) {
  const site = await startSite({ pages: 300, delayMs: () => 20 });
  const crawling = await beginCrawl(row, { site, nodes: 2, args: ['-a', 'block=/p7', '-a', 'blockMs=6000'] });
  const verdict = await crawling.verdict();
  const recoveries = crawling.saidTimes('counts as dead');
  if (recoveries > 0) verdict.problems.push(`${recoveries} false recoveries`);
  if (verdict.refetched > 0) verdict.problems.push(`${verdict.refetched} pages were fetched again`);
  return { ...verdict, note: `${recoveries} false recoveries` };
}

async function endless(row) {
  const settings = { MAIN_LOOP_TIMEOUT: 2 };
  // A stuck node ends itself, with SIGKILL, for its supervisor to replace. Four, since the page takes three with it.
  const crawling = await beginCrawl(row, { site: await poisonedSite(), settings, args: ['-a', 'loop=/bad'] });
  const startedAt = performance.now();
  const ends = await crawling.ends();
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  // Their files are completed by the next start.
  for (const [n, { code }] of ends.entries()) if (code !== 0) crawling.start(n);
  const stuck = crawling.saidTimes('has blocked the main loop');
  const verdict = await verdictOf(crawling);
  if (stuck < MOST_CRASHES) verdict.problems.push(`${stuck} nodes ended themselves as stuck`);
  return { ...verdict, note: `${stuck} stuck nodes ended themselves, all over after ${seconds} s` };
}
