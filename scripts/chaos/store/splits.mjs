/** R10: a network that falls apart, under Sentinel and in a Cluster. Both sides go on as they think right, and meet again. */

import { startCluster } from '../harness/cluster.mjs';
import { beginCrawl, repeatFault } from '../harness/crawling.mjs';
import { CRAWL } from '../harness/network.mjs';
import { startSentinels } from '../harness/sentinel.mjs';

const SPLIT_MS = 12_000;
/** A crawl that ends meanwhile, with a master that is demoted afterwards, ends with what it lost. */
const PER_SPLIT_S = 30;
/** About. */
const PAGES_OF_A_COPY = 526;

const topologies = { Sentinel: startSentinels, Cluster: startCluster };

/** Who is on one side. */
const sides = {
  'the nodes of the crawl are cut off from all servers': () => [CRAWL],
  'the master is cut off from all others': (master) => [master.inner],
  'the master and the nodes are cut off from all others, so what is committed meanwhile is lost': (
    master,
  ) => [master.inner, CRAWL],
};

export const splits = Object.entries(topologies).flatMap(([topology, start]) =>
  Object.entries(sides).map(([fault, sideOf]) => ({
    row: 'R10',
    fault: `${topology}: ${fault}, ${SPLIT_MS / 1_000} s`,
    engines: ['redis'],
    isLong: true,
    run: (scenario) => crawlUnder(scenario, start, sideOf),
  })),
);

async function crawlUnder(scenario, start, sideOf) {
  const slow = { ...scenario, scale: slowed(scenario.scale) };
  const topology = await start();
  const { network, settings } = topology;
  const crawling = await beginCrawl(slow, { nodes: 3, redis: null, settings });
  const split = async () => {
    network.split(sideOf(await topology.master()));
    await crawling.pause(SPLIT_MS);
    network.heal();
    return Date.now();
  };
  return repeatFault(crawling, slow, split, () => topology.untilHealed());
}

/** So slow that the crawl outlasts all splits. */
function slowed(scale) {
  const pagesPerSecond = (PAGES_OF_A_COPY * scale.copies) / (scale.faults * PER_SPLIT_S);
  return { ...scale, pagesPerSecond: Math.min(scale.pagesPerSecond, Math.round(pagesPerSecond)) };
}
