/** All scenarios of the harness, in the order of their rows. */
import { kills, stops } from './nodes/kills.mjs';
import { signals } from './nodes/signals.mjs';
import { failovers } from './store/failovers.mjs';
import { flushed, flushedScripts, memoryFull } from './store/hands.mjs';
import { olderCopy, serverKills } from './store/outages.mjs';

export const scenarios = [
  ...[kills, signals, stops],
  ...[serverKills, olderCopy, ...failovers],
  ...[memoryFull, flushedScripts, flushed],
];
