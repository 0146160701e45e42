/** R11 and R27: a Redis Cluster whose slots move, and whose masters die, under the crawl; and one that is down when a command starts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { crossSlotErrors, moveSlot, startCluster } from '../harness/cluster.mjs';
import { beginCrawl, repeatFault } from '../harness/crawling.mjs';
import { until } from '../harness/stage.mjs';

/** Each does it once, and resolves with the instant from which the crawl can go on. */
const faults = {
  "Cluster of six: the crawl's slot moves to another master, key by key": async (cluster, random) => {
    await moveSlot(cluster, () => sleep(random.between(5, 50)));
    return Date.now();
  },
  "Cluster of six: SIGKILL of the slot's master, its replica is promoted": async (cluster) => {
    const old = await cluster.master();
    await old.kill();
    await cluster.untilOther(old);
    const at = Date.now();
    await old.start();
    await cluster.untilFollows(old);
    return at;
  },
  'Cluster of six: CLUSTER FAILOVER': async (cluster) => {
    const old = await cluster.master();
    const replica = await cluster.replicaOf(old);
    await replica.db.call('CLUSTER', 'FAILOVER');
    await cluster.untilOther(old);
    const at = Date.now();
    await cluster.untilFollows(old);
    return at;
  },
};

export const clusters = Object.entries(faults).map(([fault, cause]) => ({
  row: 'R11',
  fault,
  engines: ['redis'],
  run: (scenario) => crawlUnder(scenario, cause),
}));

async function crawlUnder(scenario, cause) {
  const cluster = await startCluster();
  const crawling = await beginCrawl(scenario, { nodes: 3, redis: null, settings: cluster.settings });
  const verdict = await repeatFault(crawling, scenario, () => cause(cluster, scenario.random));
  const crossed = await crossSlotErrors(cluster.servers);
  const problems = [...verdict.problems];
  if (crossed > 0) problems.push(`${crossed} calls were refused as CROSSSLOT`);
  return { ...verdict, problems, note: `${crossed} CROSSSLOT` };
}

const CONNECT_S = 3;
/** Beside REDIS_CONNECT_TIMEOUT, on a busy machine. */
const LATEST_END_MS = 15_000;

export const clusterDown = {
  row: 'R27',
  fault:
    'Cluster of six: a master and its replica are dead (cluster_state:fail) when commands start; they come back',
  engines: ['redis'],
  async run(row) {
    const cluster = await startCluster();
    const settings = { ...cluster.settings, REDIS_CONNECT_TIMEOUT: CONNECT_S };
    const crawling = await beginCrawl(row, { nodes: 1, redis: null, settings });
    await crawling.untilPart(0.3);
    crawling.nodes[0].signal('SIGTERM');
    await crawling.ends();
    const master = await cluster.master();
    const dead = [await cluster.replicaOf(master), master];
    for (const server of dead) await server.kill();
    const others = cluster.servers.filter((server) => !dead.includes(server));
    const isDown = async ({ db }) => String(await db.call('CLUSTER', 'INFO')).includes('cluster_state:fail');
    for (const server of others) await until(() => isDown(server), 'the Cluster to fail');
    const problems = [];
    const commands = [
      ['crawl', 'walk', '--exit-when-done', ...crawling.site.args],
      ['stats', 'walk'],
      ['doctor', 'walk'],
      ['seed', 'walk', 'http://127.0.0.1:1/'],
    ];
    const judge = async (args) => {
      const startedAt = performance.now();
      const { code, stdout, stderr } = await crawling.command(...args);
      const tookMs = performance.now() - startedAt;
      if (code !== 4) problems.push(`${args[0]} ended with ${code}: ${stderr.slice(-300)}`);
      if (!(stdout + stderr).includes('cluster_state:fail'))
        problems.push(`${args[0]} did not say why: ${stderr}`);
      if (tookMs > 1_000 * CONNECT_S + LATEST_END_MS) problems.push(`${args[0]} ended after ${tookMs} ms`);
    };
    await Promise.all(commands.map(judge));
    for (const server of dead.reverse()) await server.start();
    crawling.start(0, ['-s', 'REDIS_CONNECT_TIMEOUT=60']);
    const verdict = await crawling.verdict();
    const happened = { 'servers that said cluster_state:fail': others.length };
    return { ...verdict, problems: [...problems, ...verdict.problems], happened };
  },
};
