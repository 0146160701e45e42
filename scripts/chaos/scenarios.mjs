/** All scenarios of the harness, in the order of their rows. */
import { generatedPages } from './crawls/generated-pages.mjs';
import { manyLinks, trap } from './crawls/hostile-sites.mjs';
import { steadyLoad } from './crawls/steady-load.mjs';
import { clocks } from './nodes/clocks.mjs';
import { kills, stops } from './nodes/kills.mjs';
import { signals } from './nodes/signals.mjs';
import { clusters } from './store/cluster.mjs';
import { failovers } from './store/failovers.mjs';
import { evictingPolicy, flushed, flushedScripts, memoryFull } from './store/hands.mjs';
import { network } from './store/network.mjs';
import { olderCopy, serverKills } from './store/outages.mjs';
import { splits } from './store/splits.mjs';
import { versions } from './store/versions.mjs';
import { storm } from './storm.mjs';

const nodes = [kills, signals, stops, clocks];
const stores = [
  serverKills,
  olderCopy,
  ...failovers,
  ...clusters,
  versions,
  network,
  ...splits,
  memoryFull,
  evictingPolicy,
  flushedScripts,
  flushed,
];

export const scenarios = [...nodes, ...stores, manyLinks, trap, steadyLoad, storm, ...generatedPages].sort(
  (a, b) => numberOf(a) - numberOf(b),
);

function numberOf({ row }) {
  return Number(row.slice(1));
}
