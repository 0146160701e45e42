/** No row of its own fault: random faults of every kind, one after another and at once, for as long as --minutes says. */
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beginCrawl } from '../harness/crawling.mjs';
import { endOf } from '../harness/project.mjs';
import { startProxy } from '../harness/proxy.mjs';
import { refetchDelays } from '../harness/recovery.mjs';
import { adminOf, everysec, startStore, usedMemory } from '../harness/redis.mjs';
import { tempDir } from '../harness/stage.mjs';
import { networkFaults } from '../store/network.mjs';

const NODES = 3;
/** So few that the crawl lasts as long as the faults, also on a busy machine. */
const PAGES_PER_SECOND = 6;
const PAGES_OF_A_COPY = 526;

/** What may happen to nodes. Each takes the storm, and resolves when it is over. */
const ofNodes = {
  kill: async ({ crawling, node }) => {
    await crawling.killAndRestart(node);
  },
  killAll: async ({ crawling }) => {
    for (let n = 0; n < NODES; n++) await crawling.killAndRestart(n);
  },
  stop: async ({ crawling, node, random }) => {
    const one = crawling.nodes[node];
    crawling.faultOf(one);
    one.signal('SIGSTOP');
    await crawling.pause(random.between(500, 8_000));
    one.signal('SIGCONT');
  },
  leave: async ({ crawling, node, random, problems }) => {
    const one = crawling.nodes[node];
    if (one.over() || !(await crawling.hasAsked(one))) return;
    crawling.faultOf(one);
    const isForced = random.next() < 0.5;
    one.signal('SIGTERM');
    if (isForced) {
      await crawling.pause(random.between(0, 200));
      one.signal('SIGTERM');
    }
    const { code } = await endOf(one);
    // Another fault may have killed and replaced it meanwhile.
    if (crawling.nodes[node] !== one) return;
    const isExpected = code === 0 || code === null || (isForced && code === 143);
    if (!isExpected) problems.push(`SIGTERM ended a node with ${code}: ${one.said.slice(-300)}`);
    if (!crawling.isOver) crawling.start(node);
  },
  pause: async ({ crawling, random }) => {
    await crawling.command('pause', 'walk');
    await crawling.pause(random.between(500, 3_000));
    await crawling.command('resume', 'walk');
  },
  look: async ({ crawling, random }) => {
    await crawling.command(
      ...random.of([
        ['stats', 'walk'],
        ['doctor', 'walk', '--deep'],
        ['failed', 'walk', 'list'],
      ]),
    );
  },
};

/** What may happen to Redis, and between it and the nodes. */
const ofRedis = {
  serverKill: async ({ redis, crawling, random }) => {
    await redis.kill();
    await crawling.pause(random.between(0, 4_000));
    await redis.start();
  },
  serverStop: async ({ redis, random }) => {
    redis.signal('SIGSTOP');
    await sleep(random.between(500, 6_000));
    redis.signal('SIGCONT');
  },
  olderCopy: async ({ redis, crawling, random }) => {
    const copy = await tempDir('copy');
    // A copy of the append-only file may end within a command: redis-server cuts that off.
    await cp(redis.dir, copy, { recursive: true });
    await crawling.pause(random.between(1_000, 5_000));
    await redis.kill();
    await rm(path.join(redis.dir, 'appendonlydir'), { recursive: true });
    await cp(copy, redis.dir, { recursive: true });
    await redis.start();
  },
  clientKill: async ({ admin }) =>
    void (await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
  functionFlush: async ({ admin }) => void (await admin.call('FUNCTION', 'FLUSH')),
  full: async ({ admin, crawling, random }) => {
    await admin.config('SET', 'maxmemory', String(await usedMemory(admin)));
    await crawling.pause(random.between(1_000, 4_000));
    await admin.config('SET', 'maxmemory', '0');
  },
  policy: async ({ admin, crawling, random }) => {
    await admin.config('SET', 'maxmemory', '500mb');
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await crawling.pause(random.between(1_000, 5_000));
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await admin.config('SET', 'maxmemory', '0');
  },
  ...Object.fromEntries(
    Object.entries(networkFaults).map(([name, cause]) => [
      name,
      ({ proxy, crawling }) => cause(proxy, (ms) => crawling.pause(ms)),
    ]),
  ),
};

export const storm = {
  row: 'R23',
  fault: 'random faults of nodes, store and network, some at once, as long as --minutes says',
  isLong: true,
  engines: ['redis', 'embedded'],
  async run(scenario) {
    const { engine, random } = scenario;
    const copies = Math.round((scenario.scale.seconds * PAGES_PER_SECOND) / PAGES_OF_A_COPY) || 1;
    const scale = { ...scenario.scale, copies, pagesPerSecond: PAGES_PER_SECOND };
    const redis = engine === 'redis' ? await startStore(everysec) : null;
    const proxy = redis && (await startProxy(redis.port));
    const crawling = await beginCrawl(
      { engine, scale },
      { nodes: NODES, redis: redis && { ...redis, url: proxy.url } },
    );
    const shared = { crawling, random, redis, proxy, admin: redis && adminOf(redis.url), problems: [] };
    const counts = new Map();
    const faults = Object.entries(redis ? { ...ofNodes, ...ofRedis } : ofNodes);
    await crawling.untilPart(0.02);
    const endAt = Date.now() + 1_000 * scale.seconds;
    // The second causes faults of nodes alone, so that two never contradict each other.
    await Promise.all([
      rage(shared, faults, counts, endAt),
      rage(shared, Object.entries(ofNodes).slice(0, 1), counts, endAt),
    ]);
    const verdict = await crawling.verdict();
    const times = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const note = [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
    const problems = [...shared.problems, ...verdict.problems];
    return { ...verdict, problems, times, recoveryMs: refetchDelays(verdict.log, crawling.faults), note };
  },
};

/** As a supervisor does: a node that came while the memory policy was a dangerous one was refused, and comes again. */
function startRefused(crawling) {
  for (const [n, { child, said }] of crawling.nodes.entries())
    if (child.exitCode === 3 && said.includes('may evict')) crawling.start(n);
}

/** One fault after another, until the crawl or the time is over. */
async function rage(shared, faults, counts, endAt) {
  const { crawling, random } = shared;
  for (;;) {
    startRefused(crawling);
    if (crawling.isOver || Date.now() > endAt) return;
    const [name, cause] = random.of(faults);
    const node = Math.floor(random.between(0, NODES));
    await cause({ ...shared, node });
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await crawling.pause(random.between(1_000, 8_000));
  }
}
