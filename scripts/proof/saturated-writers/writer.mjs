/** One of the processes of saturated-writers.mjs: push, lease and settle without a pause; then report. */
import { requestOf } from '../../../bench/frontier/requests.mjs';
import { joinOptions } from '../../../bench/frontier/stage.mjs';
import { openFrontier } from '../../../dist/internal.js';
import { openOptions } from '../open-options.mjs';

const [dir = '', first = '0', count = '0'] = process.argv.slice(2);
const PUSH = 500;
const LEASE = 16;
const DOMAINS = 1_000;
const done = { kind: 'done', reason: 'finished', status: 200, attempts: 1 };
const noEffects = { items: [], feedItems: [], requests: [], stats: {} };

const frontier = await openFrontier(openOptions(dir, 'load'));
await frontier.join({ id: `writer-${first}`, host: 'localhost', pid: process.pid }, joinOptions);

/** The time between two looks of the event loop: what runs in between blocks all else, signals included. */
const turnsMs = [];
let lastMs = performance.now();
let isWatching = true;
setImmediate(watch);

let settled = 0;
const end = Number(first) + Number(count);
for (let from = Number(first); from < end; from += PUSH) {
  const size = Math.min(PUSH, end - from);
  const requests = Array.from({ length: size }, (_, n) => requestOf(from + n, DOMAINS));
  const pushed = frontier.push(requests, 'links');
  const { leases } = await frontier.lease(LEASE, 0);
  const answers = await Promise.all(leases.map((lease) => frontier.settle(lease, done, noEffects)));
  settled += answers.filter(({ committed }) => committed).length;
  await pushed;
}
isWatching = false;
await frontier.leave('shutdown');
await frontier.close();
turnsMs.sort((a, b) => b - a);
process.send({ settled, turnsMs: turnsMs.slice(0, 10) });
process.disconnect();

function watch() {
  const nowMs = performance.now();
  turnsMs.push(nowMs - lastMs);
  lastMs = nowMs;
  if (isWatching) setImmediate(watch);
}
