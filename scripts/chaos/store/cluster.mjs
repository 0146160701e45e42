/** R11: a Redis Cluster whose slots move, and whose masters die, under the crawl. */
import { setTimeout as sleep } from 'node:timers/promises';
import { crossSlotErrors, moveSlot, startCluster } from '../harness/cluster.mjs';
import { beginCrawl, repeatFault } from '../harness/crawling.mjs';

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
