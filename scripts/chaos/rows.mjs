/** All rows of the harness, in the order of their names. A new one is added here. */

import { manyLinks, trap } from './crawls/hostile-sites.mjs';
import { noFault } from './crawls/no-fault.mjs';
import { politeness } from './crawls/politeness.mjs';
import { steadyLoad } from './crawls/steady-load.mjs';
import { storm } from './crawls/storm.mjs';
import { forgedFields } from './hostile/forged-fields.mjs';
import { hostileWeb } from './hostile/hostile-web.mjs';
import { linearMarkup } from './hostile/linear-markup.mjs';
import { mutatedStore } from './hostile/mutated-store.mjs';
import { pageBombs } from './hostile/page-bombs.mjs';
import { cutFeed } from './item-files/cut-feed.mjs';
import { fileKills } from './item-files/item-files.mjs';
import { stoppedWriter } from './item-files/stopped-writer.mjs';
import { clocks } from './nodes/clocks.mjs';
import { committedKills } from './nodes/committed-kills.mjs';
import { earlyLinks } from './nodes/early-links.mjs';
import { endings } from './nodes/endings.mjs';
import { kills, stops } from './nodes/kills.mjs';
import { lateVerdict } from './nodes/late-verdict.mjs';
import { poison } from './nodes/poison.mjs';
import { streamKills } from './nodes/seed-stream.mjs';
import { signals } from './nodes/signals.mjs';
import { startKills } from './nodes/start-generator.mjs';
import { clockSteps } from './store/clock-steps.mjs';
import { clusterDown, clusters } from './store/cluster.mjs';
import { commitKills } from './store/commit-kills.mjs';
import { damagedFile } from './store/damaged-file.mjs';
import { failovers } from './store/failovers.mjs';
import { evictingPolicy, flushed, flushedScripts, memoryFull } from './store/hands.mjs';
import { network } from './store/network.mjs';
import { olderCopy, olderCopyAtRest, serverKills } from './store/outages.mjs';
import { splits } from './store/splits.mjs';
import { standstills } from './store/standstills.mjs';
import { vanishedKeys } from './store/vanished-keys.mjs';
import { versions } from './store/versions.mjs';

const nodes = [
  kills,
  signals,
  stops,
  clocks,
  ...poison,
  ...endings,
  startKills,
  streamKills,
  committedKills,
  lateVerdict,
  earlyLinks,
];
const stores = [
  ...[serverKills, olderCopy, olderCopyAtRest, ...failovers, ...clusters, clusterDown, versions, network],
  ...[...splits, ...standstills, ...clockSteps, ...vanishedKeys],
  ...[memoryFull, evictingPolicy, flushedScripts, flushed, commitKills, damagedFile],
];
const crawls = [noFault, ...politeness, fileKills, cutFeed, stoppedWriter, steadyLoad, storm];
const web = [manyLinks, trap, ...hostileWeb, linearMarkup, mutatedStore, forgedFields, ...pageBombs];

export const allRows = [...nodes, ...stores, ...crawls, ...web].sort((a, b) =>
  a.row.localeCompare(b.row, 'en', { numeric: true }),
);
