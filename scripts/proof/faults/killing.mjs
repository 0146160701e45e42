/** Nodes that are killed, asked to leave, or stopped. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { crawl, endOf, judge, look, newProject, startRedis, startSite, until } from './stage.mjs';

const KILL_EVERY_MS = 2_000;
const KILL_FOR_MS = 20_000;

export const killing = {
  'R1 SIGKILL every 2 s, 4 nodes, Redis': () => killNodes(30),
  'R1 the same, pages of 1 s': () => killNodes(1_000, { pages: 900 }),
  'R1 SIGKILL every 2 s, --workers 4, embedded': () => killWorkers(30),
  'R1 the same, pages of 1 s, embedded': () => killWorkers(1_000, { pages: 900 }),
  'R2 SIGTERM, Redis': () => terminate(true),
  'R2 SIGTERM, embedded': () => terminate(false),
  'R2 two signals, Redis': () => terminateTwice(true),
  'R2 two signals, embedded': () => terminateTwice(false),
  'R3 SIGSTOP for 2 × NODE_TIMEOUT, Redis': () => stopNode(true),
  'R3 SIGSTOP for 2 × NODE_TIMEOUT, embedded': () => stopNode(false),
};

async function killNodes(delayMs, { pages = 6_000 } = {}) {
  const site = await startSite({ pages, delayMs: () => delayMs });
  const project = await newProject(await startRedis());
  const start = (n) =>
    crawl(project, [
      '-a',
      `start=${site.url}`,
      '--exit-when-done',
      '-o',
      `n${n}.jsonl`,
      '--node-id',
      `n${n}`,
    ]);
  const nodes = [1, 2, 3, 4].map(start);
  let kills = 0;
  const startedAt = performance.now();
  const until = performance.now() + KILL_FOR_MS;
  while (performance.now() < until) {
    await sleep(KILL_EVERY_MS);
    const n = Math.floor(Math.random() * 4);
    if (nodes[n].over()) continue;
    nodes[n].signal('SIGKILL');
    await nodes[n].ended;
    nodes[n] = start(n + 1);
    kills += 1;
  }
  const ends = await Promise.all(nodes.map((node) => endOf(node, 180_000)));
  return verdictOf(site, project, kills, ends, startedAt);
}

async function killWorkers(delayMs, { pages = 6_000 } = {}) {
  const site = await startSite({ pages, delayMs: () => delayMs });
  const project = await newProject(null);
  const parent = crawl(project, [
    '-a',
    `start=${site.url}`,
    '--workers',
    '4',
    '--exit-when-done',
    '-O',
    'items.jsonl',
  ]);
  let kills = 0;
  const startedAt = performance.now();
  const until = performance.now() + KILL_FOR_MS;
  while (performance.now() < until && !parent.over()) {
    await sleep(KILL_EVERY_MS);
    const workers = childrenOf(parent.pid);
    const victim = workers[Math.floor(Math.random() * workers.length)];
    if (victim === undefined) continue;
    process.kill(victim, 'SIGKILL');
    kills += 1;
  }
  return verdictOf(site, project, kills, [await endOf(parent, 180_000)], startedAt);
}

async function verdictOf(site, project, kills, ends, startedAt) {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  const { state, lost, twice, refetched, percent, crashed, problems } = await judge(site, project);
  if (crashed > 0) problems.push(`${crashed} innocent pages failed as crashed`);
  if (ends.some(({ code }) => code !== 0)) problems.push(`ends: ${JSON.stringify(ends)}`);
  const figures = `${kills} kills, ${site.urls.length} pages: lost ${lost}, twice ${twice}, refetched ${refetched} (${percent} %), crashed ${crashed}, failed ${state.failed}, ${seconds} s`;
  return { figures, problems };
}

async function terminate(onRedis) {
  const site = await startSite({ pages: 600, delayMs: () => 100 });
  const project = await newProject(onRedis ? await startRedis() : null);
  const start = (n) => crawl(project, ['-a', `start=${site.url}`, '-o', `n${n}.jsonl`, '--exit-when-done']);
  const problems = [];
  let slowest = 0;
  for (let round = 1; round <= 3; round++) {
    const seen = site.log.length;
    const nodes = [1, 2, 3].map(start);
    await until(() => site.log.length > seen + 60, 'some pages');
    const at = performance.now();
    for (const node of nodes) node.signal('SIGTERM');
    for (const node of nodes) {
      const { code, signal } = await endOf(node);
      if (code !== 0) problems.push(`a node ended with ${code ?? signal}: ${node.said.slice(-300)}`);
      slowest = Math.max(slowest, node.endedAt - at);
    }
    const { leased, nodes: live } = await look(project);
    if (leased > 0 || live.length > 0) problems.push(`${leased} leases, ${live.length} nodes left`);
  }
  await endOf(start(1));
  const { refetched, problems: more } = await judge(site, project);
  if (refetched > 0) problems.push(`${refetched} refetched`);
  return {
    figures: `3 × 3 nodes: refetched ${refetched}, slowest exit ${Math.round(slowest)} ms`,
    problems: [...problems, ...more],
  };
}

async function terminateTwice(onRedis) {
  const site = await startSite({ pages: 60, delayMs: (path) => (path === '/' ? 0 : hang ? 600_000 : 0) });
  let hang = true;
  const project = await newProject(onRedis ? await startRedis() : null);
  const problems = [];
  const times = [];
  for (const [signal, expected] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ]) {
    const node = crawl(project, ['-a', `start=${site.url}`, '-o', 'items.jsonl']);
    const seen = site.log.length;
    await until(() => site.log.length > seen + (seen === 0 ? 2 : 1), 'some pages');
    node.signal(signal);
    await until(() => node.said.includes('exits at once'), 'the first signal to be heard');
    const at = performance.now();
    node.signal(signal);
    const { code } = await endOf(node);
    times.push(Math.round(node.endedAt - at));
    if (code !== expected) problems.push(`${signal} twice ended with ${code}`);
    const { leased, nodes, breaches } = await look(project);
    problems.push(...breaches);
    if (leased > 0 || nodes.length > 0) problems.push(`${leased} leases, ${nodes.length} nodes left`);
  }
  hang = false;
  await endOf(crawl(project, ['-a', `start=${site.url}`, '-o', 'items.jsonl', '--exit-when-done']));
  const { problems: more } = await judge(site, project);
  return {
    figures: `exit ${times.join(' and ')} ms after the second signal`,
    problems: [...problems, ...more],
  };
}

async function stopNode(onRedis) {
  const site = await startSite({ pages: 1_200, delayMs: () => 60 });
  const project = await newProject(onRedis ? await startRedis() : null);
  const nodes = [1, 2, 3].map((n) =>
    crawl(project, ['-a', `start=${site.url}`, '-o', `n${n}.jsonl`, '--exit-when-done', '-L', 'DEBUG']),
  );
  await until(() => site.log.length > 150, 'some pages');
  nodes[1].signal('SIGSTOP');
  await sleep(2 * 3_000);
  nodes[1].signal('SIGCONT');
  const ends = await Promise.all(nodes.map((node) => endOf(node)));
  const { refetched, percent, crashed, problems, lost, twice } = await judge(site, project);
  const stale = nodes[1].lines().filter(({ msg }) => msg.includes('no longer ours')).length;
  const rejoined = nodes[1].lines().some(({ msg }) => msg.includes('joining anew'));
  if (crashed > 0) problems.push(`${crashed} innocents crashed`);
  if (ends.some(({ code }) => code !== 0))
    problems.push(`ends: ${JSON.stringify(ends)} ${nodes[1].said.slice(-500)}`);
  const figures = `stale settles ${stale}, rejoined ${rejoined}, lost ${lost}, twice ${twice}, refetched ${refetched} (${percent} %)`;
  return { figures, problems };
}

/** Living direct children, by /proc. */
export function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const isNode = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('crawlnode.js');
        return Number(ppid) === parent && state !== 'Z' && isNode;
      } catch {
        return false;
      }
    })
    .map(Number);
}
