/** R18 and R19: when nodes may leave, and when the crawl may be cleared. */
import { beginCrawl } from '../harness/crawling.mjs';
import { html, startSite } from '../harness/local-site.mjs';

const engines = ['redis', 'embedded'];
const SLOW_MS = 10_000;
/** After the last page. On a busy machine a node takes seconds for what it does in half of one otherwise. */
const LATEST_LEAVE_MS = 10_000;

export const endings = [
  {
    row: 'R18',
    fault: 'SCHEDULER_PERSIST false, one of 3 killed',
    engines,
    run: notPersisted,
  },
  {
    row: 'R19',
    fault: `a last page of ${SLOW_MS / 1_000} s with 20 links, 3 nodes`,
    engines,
    run: slowLast,
  },
];

async function slowLast(row) {
  const late = Array.from({ length: 20 }, (_, n) => `/late${n}`);
  const site = await startSite({
    pages: 40,
    answer(path, response) {
      if (path === '/') html(response, ['/p1', '/p2', '/slow']);
      else if (path === '/slow') setTimeout(() => html(response, late), SLOW_MS);
      else if (path.startsWith('/late')) html(response);
      else return false;
      return true;
    },
  });
  const crawling = await beginCrawl(row, { site, nodes: 3 });
  await crawling.ends();
  // Ends are told by another clock than requests.
  const offset = Date.now() - performance.now();
  const endedAtMs = crawling.nodes.map(({ endedAt }) => endedAt + offset);
  const expected = [...site.urls, `${site.origin}/slow`, ...late.map((path) => site.origin + path)];
  const verdict = await crawling.verdict({ expected });
  const slowAtMs = verdict.log.find(({ path }) => path === '/slow').endMs;
  const lastAtMs = Math.max(...verdict.log.map(({ endMs }) => endMs));
  const early = endedAtMs.filter((atMs) => atMs < slowAtMs).length;
  const leftMs = Math.max(...endedAtMs) - lastAtMs;
  if (early > 0) verdict.problems.push(`${early} nodes left early`);
  if (leftMs > LATEST_LEAVE_MS)
    verdict.problems.push(`the last one left ${leftMs.toFixed(0)} ms after the last page`);
  return { ...verdict, note: `left early ${early}, all gone ${leftMs.toFixed(0)} ms after the last page` };
}

async function notPersisted(row) {
  const site = await startSite({ pages: 800, delayMs: () => 40 });
  const settings = { SCHEDULER_PERSIST: false, LOG_LEVEL: 'DEBUG' };
  const crawling = await beginCrawl(row, { site, nodes: 3, settings });
  await crawling.untilPart(0.2);
  await crawling.untilAllCrawl();
  const killed = crawling.nodes.pop();
  const wasAlive = !killed.over();
  killed.signal('SIGKILL');
  await killed.ended;
  const verdict = await crawling.verdict();
  const cleared = crawling.lives.filter((node) =>
    node.lines().some((line) => line.msg === 'left the crawl' && line.cleared),
  ).length;
  if (cleared !== 1) verdict.problems.push(`cleared ${cleared} times`);
  if (verdict.stats.seen !== 0) verdict.problems.push(`${verdict.stats.seen} fingerprints are left`);
  return { ...verdict, times: Number(wasAlive), note: `cleared ${cleared} times` };
}
