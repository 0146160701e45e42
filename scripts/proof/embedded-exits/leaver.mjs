/** A node of embedded-exits.mjs: its thread beats as fast as it can, then the process exits in the middle of that. */
import { joinOptions } from '../../../bench/frontier/stage.mjs';
import { Heartbeat, openFrontier, Pulse } from '../../../dist/internal.js';
import { openOptions } from '../open-options.mjs';

const [dir = '', code = '0'] = process.argv.slice(2);
const open = openOptions(dir, 'load');
const frontier = await openFrontier(open);
const { incarnation } = await frontier.join(
  { id: 'leaver', host: 'localhost', pid: process.pid },
  joinOptions,
);
const pulse = new Pulse();
pulse.note(0, 0);
const silent = { error() {}, warn() {}, info() {}, debug() {} };
const options = { open, incarnation, intervalMs: 1, mainLoopTimeoutMs: 60_000, endAfterMs: 60_000 };
new Heartbeat({ ...options, node: 'leaver', speaksJson: false, pulse: pulse.buffer }, () => {}, silent);
// Some in the middle of the thread's start, some in the middle of a call.
setTimeout(() => process.exit(Number(code)), 100 + Math.random() * 900);
