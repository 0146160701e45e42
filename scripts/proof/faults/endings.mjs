/** When nodes may leave: completion, budgets, clearing; and what a long crawl costs a node. */
import { readdirSync, readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { crawl, endOf, html, judge, look, newProject, startRedis, startSite, until } from './stage.mjs';

/** After the last page. On a busy machine a node takes seconds for what it does in half of one otherwise. */
const LATEST_LEAVE_MS = 10_000;

export const endings = {
  'R19 a last page of 10 s with 20 links, 3 nodes, Redis': () => slowLast(true),
  'R19 a last page of 10 s with 20 links, 3 nodes, embedded': () => slowLast(false),
  'R18 SCHEDULER_PERSIST false, one of 3 killed, Redis': () => notPersisted(true),
  'R18 SCHEDULER_PERSIST false, one of 3 killed, embedded': () => notPersisted(false),
  'budget: --max-pages 100, 4 nodes, 10,000 pages, Redis': () => budget(true),
  'budget: --max-pages 100, 4 nodes, 10,000 pages, embedded': () => budget(false),
  'budget: --max-pages 200, one of 3 killed, Redis': () => budgetKilled(true),
  'memory: 20,000 pages on one node, Redis': () => long(true),
  'memory: 20,000 pages on one node, embedded': () => long(false),
};

async function slowLast(onRedis) {
  const late = Array.from({ length: 20 }, (_, n) => `/late${n}`);
  const site = await startSite({
    pages: 40,
    answer: (path, response) => {
      if (path === '/') html(response, ['/p1', '/p2', '/slow']);
      else if (path === '/slow') setTimeout(() => html(response, late), 10_000);
      else if (path.startsWith('/late')) html(response);
      else return false;
      return true;
    },
  });
  const project = await newProject(onRedis ? await startRedis() : null);
  const nodes = [1, 2, 3].map((n) =>
    crawl(project, ['-a', `start=${site.url}`, '--exit-when-done', '-o', `n${n}.jsonl`]),
  );
  const ends = await Promise.all(nodes.map((node) => endOf(node)));
  const expected = [...site.urls, `${site.origin}/slow`, ...late.map((path) => site.origin + path)];
  const { problems, lost, twice, refetched } = await judge(site, project, { expected });
  const slowAt = site.log.find(({ path }) => path === '/slow').endMs;
  const lastAt = Math.max(...site.log.map(({ endMs }) => endMs));
  const early = nodes.filter(({ endedAt }) => endedAt < slowAt).length;
  const leftMs = Math.max(...nodes.map(({ endedAt }) => endedAt - lastAt));
  if (early > 0) problems.push(`${early} left early`);
  if (leftMs > LATEST_LEAVE_MS)
    problems.push(`the last one left ${leftMs.toFixed(0)} ms after the last page`);
  if (ends.some(({ code }) => code !== 0)) problems.push(`ends: ${JSON.stringify(ends)}`);
  return {
    figures: `left early ${early}, all gone ${leftMs.toFixed(0)} ms after the last page`,
    ...{ problems, lost, twice, refetched, pages: expected.length },
  };
}

async function notPersisted(onRedis) {
  const site = await startSite({ pages: 800, delayMs: () => 40 });
  const redis = onRedis ? await startRedis() : null;
  const project = await newProject(redis, { SCHEDULER_PERSIST: false });
  const nodes = [1, 2, 3].map((n) =>
    crawl(project, ['-a', `start=${site.url}`, '--exit-when-done', '-o', `n${n}.jsonl`, '-L', 'DEBUG']),
  );
  await until(() => site.log.length > 150, 'some pages');
  nodes[2].signal('SIGKILL');
  const ends = await Promise.all(nodes.slice(0, 2).map((node) => endOf(node)));
  const cleared = nodes.filter((node) =>
    node.lines().some((line) => line.msg === 'left the crawl' && line.cleared),
  ).length;
  const { lost, twice, refetched, percent, state, problems } = await judge(site, project);
  if (cleared !== 1) problems.push(`cleared ${cleared} times`);
  if (state.seen !== 0) problems.push(`${state.seen} fingerprints left`);
  if (ends.some(({ code }) => code !== 0)) problems.push(`ends: ${JSON.stringify(ends)}`);
  let keys = '';
  if (redis) {
    const db = new Redis(redis.url);
    keys = `, keys left: ${(await db.keys('*')).sort().join(' ')}`;
    db.disconnect();
  }
  return {
    figures: `cleared ${cleared} times, lost ${lost}, twice ${twice}, refetched ${refetched} (${percent} %)${keys}`,
    ...{ problems, lost, twice, refetched, pages: site.urls.length },
  };
}

async function budget(onRedis) {
  const site = await startSite({ pages: 10_000, delayMs: () => 20 });
  const project = await newProject(onRedis ? await startRedis() : null);
  const args = ['-a', `start=${site.url}`, '--exit-when-done', '--max-pages', '100'];
  const nodes = [1, 2, 3, 4].map(() => crawl(project, args));
  const ends = await Promise.all(nodes.map((node) => endOf(node)));
  const { breaches, leased, pending } = await look(project);
  const problems = [...breaches];
  if (site.log.length !== 100) problems.push(`${site.log.length} fetches`);
  if (leased > 0) problems.push(`${leased} leased`);
  if (ends.some(({ code }) => code !== 0)) problems.push(`ends: ${JSON.stringify(ends)}`);
  const reasons = nodes.map(({ out }) => /walk: (\w+)/.exec(out)?.[1]).join(', ');
  return { figures: `${site.log.length} fetches, ${pending} pending stay, reasons ${reasons}`, problems };
}

async function budgetKilled(onRedis) {
  const site = await startSite({ pages: 600, delayMs: () => 50 });
  const project = await newProject(onRedis ? await startRedis() : null);
  const args = ['-a', `start=${site.url}`, '--exit-when-done', '--max-pages', '200'];
  const nodes = [1, 2, 3].map(() => crawl(project, args));
  await until(() => site.log.length > 80, 'some pages');
  nodes[1].signal('SIGKILL');
  const ends = await Promise.all([nodes[0], nodes[2]].map((node) => endOf(node)));
  const { breaches, leased, suspects } = await look(project);
  const problems = [...breaches];
  if (site.log.length > 200) problems.push(`${site.log.length} fetches`);
  if (leased > 0) problems.push(`${leased} leased`);
  if (ends.some(({ code }) => code !== 0)) problems.push(`ends: ${JSON.stringify(ends)}`);
  return { figures: `${site.log.length} fetches, ${suspects} suspects wait`, problems };
}

async function long(onRedis) {
  const site = await startSite({ pages: 20_000 });
  const project = await newProject(onRedis ? await startRedis() : null);
  const node = crawl(project, ['-a', `start=${site.url}`, '--exit-when-done', '-o', 'items.jsonl']);
  const samples = [];
  const startedAt = performance.now();
  const timer = setInterval(() => {
    try {
      const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'))[1]) / 1024;
      samples.push({ pages: site.log.length, rss, open: readdirSync(`/proc/${node.pid}/fd`).length });
    } catch {
      // It has ended.
    }
  }, 500);
  const { code } = await endOf(node, 400_000);
  clearInterval(timer);
  const seconds = (performance.now() - startedAt) / 1000;
  const { lost, twice, refetched, problems } = await judge(site, project);
  if (code !== 0) problems.push(`exit ${code}: ${node.said.slice(-300)}`);
  const at = [0.1, 0.25, 0.5, 0.75, 0.98].map(
    (part) => samples.find(({ pages }) => pages >= part * 20_000) ?? samples.at(-1),
  );
  const rss = at.map((sample) => sample.rss.toFixed(0)).join(' ');
  const open = at.map((sample) => sample.open).join(' ');
  if (at.at(-1).rss > at[1].rss * 1.5) problems.push('memory grows');
  if (at.at(-1).open > at[0].open + 20) problems.push('descriptors grow');
  return {
    figures: `RSS MB at 10, 25, 50, 75, 98 %: ${rss}; descriptors ${open}; ${seconds.toFixed(0)} s; lost ${lost}, twice ${twice}, refetched ${refetched}`,
    ...{ problems, lost, twice, refetched, pages: site.urls.length },
  };
}
