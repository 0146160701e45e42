import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import {
  crawl,
  endOf,
  html,
  judge,
  look,
  newProject,
  startCuttingProxy,
  startRedis,
  startSite,
  until,
  written,
} from './stage.mjs';

/** For how long a node waits for a store that cannot grow, before it is killed. */
const STANDS_STILL_MS = 5_000;

export const store = {
  'R10 redis-server stands still for 5 s': () => pauseRedis(),
  'R10 one reply in 100 cut off, 3 nodes': () => cutReplies(),
  'R2 SIGTERM while redis-server stands still': () => termWhileAway(),
  'R16 FLUSHALL under a live crawl': () => flush(['--exit-when-done']),
  'R16 the same, --workers 2, idle nodes': () => flush(['--workers', '2'], { idle: true }),
  'R21 two writers of one file': () => twoWriters(true),
  'R21 two writers of one file, embedded': () => twoWriters(false),
  'R21 a file that may not grow, Redis': () => fullDisk(true, ['--workers', '1']),
  'R21 a file that may not grow, embedded': () => fullDisk(false, ['--workers', '1']),
};

async function pauseRedis() {
  const redis = await startRedis();
  const site = await startSite({ pages: 900, delayMs: () => 30 });
  const project = await newProject(redis);
  const nodes = [1, 2, 3].map((n) =>
    crawl(project, ['-a', `start=${site.url}`, '--exit-when-done', '-o', `n${n}.jsonl`]),
  );
  await until(() => site.log.length > 100, 'some pages');
  const before = nodes.map((node) => node.lines().length);
  redis.signal('SIGSTOP');
  await sleep(5_000);
  const seen = site.log.length;
  redis.signal('SIGCONT');
  const at = performance.now();
  await until(() => site.log.length > seen, 'the crawl to resume');
  const ms = Math.round(performance.now() - at);
  const ends = await Promise.all(nodes.map((node) => endOf(node)));
  const said = Math.max(...nodes.map((node, n) => node.lines().length - before[n]));
  const { percent, refetched, crashed, problems, lost, twice } = await judge(site, project);
  if (crashed > 0) problems.push(`${crashed} innocents crashed`);
  if (ends.some(({ code }) => code !== 0)) problems.push(`ends: ${JSON.stringify(ends)}`);
  return {
    figures: `resumed after ${ms} ms, at most ${said} log lines a node; lost ${lost}, twice ${twice}, refetched ${refetched} (${percent} %)`,
    ...{ problems, lost, twice, refetched, pages: site.urls.length },
  };
}

async function threeNodes(redis, pages, delayMs, settings = {}) {
  const site = await startSite({ pages, delayMs: () => delayMs });
  const project = await newProject(redis, settings);
  const nodes = [1, 2, 3].map((n) =>
    crawl(project, ['-a', `start=${site.url}`, '--exit-when-done', '-o', `n${n}.jsonl`]),
  );
  await until(() => site.log.length > 100, 'some pages');
  return { site, project, nodes };
}

async function ended({ site, project, nodes }, extra = '') {
  const ends = await Promise.all(nodes.map((node) => endOf(node)));
  const { percent, refetched, crashed, problems, lost, twice } = await judge(site, project);
  if (crashed > 0) problems.push(`${crashed} innocents crashed`);
  if (ends.some(({ code }) => code !== 0)) {
    problems.push(`ends: ${JSON.stringify(ends)} ${nodes.map(({ said }) => said.slice(-300))}`);
  }
  const lines = Math.max(...nodes.map((node) => node.lines().length));
  const figures = `${extra}lost ${lost}, twice ${twice}, refetched ${refetched} (${percent} %), at most ${lines} log lines a node`;
  return { figures, problems, lost, twice, refetched, pages: site.urls.length };
}

async function cutReplies() {
  const redis = await startRedis();
  const proxy = await startCuttingProxy(redis.port, 0.01);
  const crawling = await threeNodes({ ...redis, url: proxy.url }, 1_500, 20);
  crawling.project = { ...crawling.project, redis };
  const verdict = await ended(crawling);
  return { ...verdict, figures: `${proxy.cuts()} cuts, ${verdict.figures}` };
}

async function termWhileAway() {
  const redis = await startRedis();
  const { site, project, nodes } = await threeNodes(redis, 600, 50, { SHUTDOWN_TIMEOUT: 4 });
  redis.signal('SIGSTOP');
  const at = performance.now();
  for (const node of nodes) node.signal('SIGTERM');
  await sleep(1_000);
  nodes[2].signal('SIGTERM');
  const ends = await Promise.all(nodes.map((node) => endOf(node, 60_000)));
  const took = nodes.map(({ endedAt }) => Math.round(endedAt - at));
  redis.signal('SIGCONT');
  const again = crawl(project, ['-a', `start=${site.url}`, '--exit-when-done', '-o', 'n1.jsonl']);
  const verdict = await ended({ site, project, nodes: [again] });
  if (ends[2].code !== 143) verdict.problems.push(`two signals: ${JSON.stringify(ends[2])}`);
  if (Math.max(...took) > 20_000) verdict.problems.push('too long');
  return {
    ...verdict,
    figures: `ended after ${took} ms with ${ends.map(({ code, signal }) => code ?? signal)}; next run: ${verdict.figures}`,
  };
}

async function flush(args, { idle = false } = {}) {
  const redis = await startRedis();
  const site = await startSite({ pages: idle ? 20 : 3_000, delayMs: () => 30 });
  const project = await newProject(redis);
  const node = crawl(project, ['-a', `start=${site.url}`, ...args, '-o', 'items.jsonl']);
  await until(() => site.log.length >= (idle ? 20 : 100), 'some pages');
  if (idle) await until(async () => (await look(project)).done === 20, 'all to be done');
  const db = new Redis(redis.url);
  await db.flushall();
  const at = performance.now();
  const { code } = await endOf(node, 30_000);
  const ms = Math.round(performance.now() - at);
  const keys = await db.keys('*');
  db.disconnect();
  const problems = [];
  if (code !== 1) problems.push(`exit ${code}`);
  if (!/vanished|flushed/.test(node.said + node.out)) problems.push('no clear message');
  if (keys.length > 0) problems.push(`wrote again: ${keys}`);
  return {
    figures: `exit ${code} after ${ms} ms: ${(node.said + node.out).trim().split('\n').at(-1).slice(0, 200)}`,
    problems,
  };
}

async function twoWriters(onRedis) {
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
  const project = await newProject(onRedis ? await startRedis() : null);
  const args = ['-a', `start=${site.url}`, '--exit-when-done', '-o', 'items.jsonl'];
  const first = crawl(project, args);
  await until(() => site.log.length > 5, 'some pages');
  const second = crawl(project, args);
  const { code } = await endOf(second);
  answerLast();
  const { code: firstCode } = await endOf(first);
  const { problems } = await judge(site, project);
  if (code !== 3) problems.push(`the second ended with ${code}: ${second.said}`);
  if (firstCode !== 0) problems.push(`the first ended with ${firstCode}`);
  return {
    figures: `second: exit ${code}, ${second.said.trim().split('\n').at(-1).slice(0, 160)}`,
    problems,
  };
}

/** The size of every file is limited, as on a full disk a write fails; the store's own data stay below it on Redis. */
async function fullDisk(onRedis, args) {
  const site = await startSite({ pages: 300, delayMs: () => 5 });
  const project = await newProject(onRedis ? await startRedis() : null, {
    SHUTDOWN_TIMEOUT: 2,
    FEED_OUTBOX_LIMIT: 50,
  });
  const all = ['-a', `start=${site.url}`, '--exit-when-done', '-o', 'items.jsonl', ...args];
  const limit = onRedis ? 2_000 : 400_000;
  const node = crawl(project, all, { wrap: ['prlimit', `--fsize=${limit}`] });
  if (!onRedis) {
    // The store cannot grow either, and its node would wait for that for ever.
    await until(() => node.over() || node.said.includes('waiting for it'), 'the store to be full');
    await sleep(STANDS_STILL_MS);
    node.signal('SIGKILL');
  }
  const { code, signal } = await endOf(node);
  const during = await look(project);
  const waiting = during.outbox.reduce((sum, feed) => sum + feed.waiting, 0);
  const lines = (await written(project).catch(() => ['broken'])).length;
  const said = (node.said + node.out).trim().split('\n');
  const { code: again } = await endOf(crawl(project, all));
  const { lost, twice, problems } = await judge(site, project);
  if (onRedis && code !== 1) problems.push(`ended with ${code ?? signal}: ${said.at(-1)}`);
  if (again !== 0) problems.push(`the next run ended with ${again}`);
  return {
    figures: `exit ${code ?? signal}, ${lines} lines in the file, ${waiting} waited, next run ${again}: lost ${lost}, twice ${twice}; said: ${said.at(-1).slice(0, 160)}`,
    ...{ problems, lost, twice, pages: site.urls.length },
  };
}
