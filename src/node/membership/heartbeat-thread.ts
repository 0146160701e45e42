/**
 * The heartbeat thread: one heartbeat after each interval, until told to stop (see `heartbeat.ts`). It loads the frontier
 * only for its first heartbeat, since a short crawl ends before that: joining counts as a sign of life.
 */
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { FrontierGoneError, FrontierUnavailableError, messageOf } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import { version } from '../../package-folder.js';
import type { MetricsServer } from '../telemetry/metrics-server.js';
import type { NodeMetrics } from '../telemetry/node-metrics.js';
import { type Handed, Reporter } from '../telemetry/reporter.js';
import {
  Gate,
  type HeartbeatMessage,
  type HeartbeatOptions,
  type HeartbeatOrder,
  Pulse,
} from './heartbeat.js';

/** Apart from heartbeats, which no report may delay. */
const REPORT_MS = 10_000;
/** After an outage the next heartbeat is urgent: without it, other nodes count this one as dead. */
const RETRY_MS = 500;
const LEAVE = "process.removeAllListeners('exit'); process.exit(1)";

const options = workerData as HeartbeatOptions;
const pulse = new Pulse(options.pulse);
const gate = new Gate(options.gate);
const reporter = new Reporter(options.reports, options.sequence);
let incarnation = options.incarnation;
/** Counted in heartbeats, not by the clock: a process that was stopped as a whole (SIGSTOP) gets the full time. */
let stuckSince: number | null = null;
let timer: NodeJS.Timeout | null = null;
let isReporting = false;
let stopped = false;
let isEnding = false;
let lastTrouble: string | null = null;
let hasBeaten = false;

/** The frontier, opened by the first call. One that could not be opened is opened again by the next. */
class OpenedWhenUsed {
  #opening: Promise<Frontier> | null = null;

  get(): Promise<Frontier> {
    this.#opening ??= open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    await opening?.then((frontier) => frontier.close()).catch(() => {});
  }
}

/** A call without an answer delays all later ones of its connection to a server, so reports have a connection of their own. */
const forHeartbeats = new OpenedWhenUsed();
const forReports = options.open.store.engine === 'embedded' ? forHeartbeats : new OpenedWhenUsed();

/** When the store last said that this node lives. Joining counts. */
let livedAtMs = performance.now();
let metrics: NodeMetrics | null = null;
const serving = serve();

parentPort?.on('message', (order: HeartbeatOrder) => {
  if (order === 'stop') void stop();
  else if ('handed' in order) hear(order.handed);
  else {
    incarnation = order.incarnation;
    livedAtMs = performance.now();
  }
});
timer = setTimeout(beat, options.intervalMs);
const reports = setInterval(report, REPORT_MS);
const sync = import('../../frontier/choose-engine.js').then(({ syncStore }) => syncStore(options.open));

async function beat(): Promise<void> {
  const ok = await attempt();
  if (stopped) return;
  timer = setTimeout(beat, ok ? options.intervalMs : Math.min(RETRY_MS, options.intervalMs));
}

/** @returns false when the store could not be asked. */
async function attempt(): Promise<boolean> {
  if (pulse.silentMs > options.mainLoopTimeoutMs) {
    if (stuckSince === null) tell({ kind: 'stuck', incarnation });
    stuckSince ??= performance.now();
    if (performance.now() - stuckSince > options.endAfterMs) end();
    return true;
  }
  stuckSince = null;
  if (!gate.enter()) return false;
  const asked = incarnation;
  try {
    const frontier = await forHeartbeats.get();
    const answer = await frontier.heartbeat(asked, pulse.pagesPerSecond);
    lastTrouble = null;
    if (!hasBeaten) tell({ kind: 'beating' });
    hasBeaten = true;
    if (answer === 'alive') livedAtMs = performance.now();
    else tell({ kind: answer, incarnation: asked });
    return true;
  } catch (error) {
    if (error instanceof FrontierGoneError) {
      tell({ kind: 'gone', incarnation: asked });
      return true;
    }
    // Whatever is wrong, the next heartbeat tries again: a node without heartbeats would lose all its leases. The main loop
    // notices an outage by itself.
    if (!(error instanceof FrontierUnavailableError)) trouble(error);
    return false;
  } finally {
    gate.leave();
  }
}

function hear(handed: Handed): void {
  reporter.add(handed);
  metrics?.add(0, handed);
}

/** Serve metrics where they are wanted. Here, since a callback may block the main loop for longer than a scraper waits. */
async function serve(): Promise<MetricsServer | null> {
  if (options.metrics === null) return null;
  const { crawl, nodeTimeoutMs } = options.metrics;
  try {
    const [{ NodeMetrics }, { serveMetrics }] = await Promise.all([
      import('../telemetry/node-metrics.js'),
      import('../telemetry/metrics-server.js'),
    ]);
    const ofNode = new NodeMetrics(crawl, version());
    metrics = ofNode;
    const server = await serveMetrics(options.metrics, {
      metrics: () => ofNode.text(),
      isLive: () => pulse.silentMs <= options.mainLoopTimeoutMs,
      isReady: () => performance.now() - livedAtMs <= nodeTimeoutMs,
    });
    tell({ kind: 'serving', port: server.port });
    return server;
  } catch (error) {
    tell({ kind: 'not_serving', message: messageOf(error) });
    return null;
  }
}

/** A report that fails is sent again with the next one. */
async function report(): Promise<void> {
  if (isReporting || stopped || !gate.enter()) return;
  isReporting = true;
  try {
    const reported = await reporter.send((await forReports.get()).telemetry, incarnation);
    if (reported !== null) tell({ kind: 'reported', ...reported });
  } catch (error) {
    if (!(error instanceof FrontierUnavailableError || error instanceof FrontierGoneError)) trouble(error);
  } finally {
    isReporting = false;
    gate.leave();
  }
}

async function open(): Promise<Frontier> {
  const { openFrontier } = await import('../../frontier/choose-engine.js');
  const opened = await openFrontier(options.open);
  // An open store syncs by itself.
  await sync.then((end) => end?.());
  return opened;
}

/**
 * A main loop that never returns handles no signal and uses a processor for nothing, and the supervisor waits for the
 * process. Its leases belong to other nodes by now. The thread can write only to the file descriptor itself: streams go
 * through the main loop.
 */
function end(): void {
  if (isEnding) return;
  isEnding = true;
  if (!options.endsProcess) {
    tell({ kind: 'hung', incarnation });
    return;
  }
  const seconds = Math.round(pulse.silentMs / 1_000);
  const why = `a callback has blocked the main loop of ${options.node} for ${seconds} s; others took over its work, and this process ends`;
  const exitCode = process.pid === 1 ? 1 : 137;
  const fields = { code: 'main_loop_stuck', exitCode, node: options.node };
  const fatal = { level: 'fatal', time: new Date().toISOString(), ...fields, msg: why };
  try {
    writeSync(2, options.speaksJson ? `${JSON.stringify(fatal)}\n` : `crawlnode: ${why}\n`);
  } catch {
    // Nobody reads it.
  }
  endStuckProcess().catch(trouble);
}

function trouble(error: unknown): void {
  const message = messageOf(error);
  if (message !== lastTrouble) tell({ kind: 'trouble', message });
  lastTrouble = message;
}

function tell(news: HeartbeatMessage): void {
  if (!stopped) parentPort?.postMessage(news);
}

/** Close the connection and end: without its port nothing keeps the thread running. */
async function stop(): Promise<void> {
  stopped = true;
  if (timer !== null) clearTimeout(timer);
  clearInterval(reports);
  await serving.then((server) => server?.close());
  await sync.then((end) => end?.());
  // Shut out, the process exits already.
  if (gate.enter()) {
    await Promise.all([forHeartbeats.close(), forReports.close()]);
    gate.leave();
  }
  parentPort?.close();
}

/**
 * End this process, whose main loop hangs. Normally a signal does. In a container the kernel ignores signals that process 1
 * sends to itself; there the main thread is interrupted as by a debugger, and exits with code 1 without waiting for
 * listeners. This works for endless loops and regular expressions, but not for a system call that never returns.
 */
async function endStuckProcess(): Promise<void> {
  if (process.pid !== 1) {
    process.kill(process.pid, 'SIGKILL');
    return;
  }
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression: LEAVE });
}
