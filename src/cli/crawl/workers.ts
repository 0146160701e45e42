/**
 * The parent of `crawl --workers N`: it starts N nodes as child processes, forwards signals, replaces a node that died,
 * and collects the results. It leases nothing itself.
 *
 * ```
 *   started ──► ended with a result ──► counted
 *      ▲  └───► died (signal, or without a result) ──┐
 *      └───────── after a pause, a bounded number of times in a row
 * ```
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log.js';
import type { NodeResult } from '../../node/node-options.js';
import type { Context } from '../context.js';
import { eachLine } from '../input/split-lines.js';
import { readableLine } from '../log/readable-line.js';
import { hasColour } from '../terminal/colour.js';
import { type Display, isLive } from './progress.js';
import type { Rejections } from './rejections.js';
import { type FromWorker, type ToWorker, type WorkerRole, workerEnv } from './worker-channel.js';
import type { WorkerMetrics } from './worker-metrics.js';

/** The size of each half of V8's young generation. Newer versions of Node allow more. Measured in docs/internals/tuning.md. */
const SEMI_SPACE_MB = 16;
/** One glibc malloc arena for all threads. With one for each thread, V8's compiler threads leave much memory unused. */
const ARENAS = '1';

/** A node that ran this long resets the count of deaths in a row. */
const STABLE_AFTER_MS = 10_000;
/** One page that crashes its process kills three nodes, so the limit must allow several such pages. */
const MAX_DEATHS_IN_A_ROW = 20;
const MAX_PAUSE_MS = 5_000;
/** The exit code for an unreachable store. It is final for the first start of a node, but a replacement tries again. */
const UNREACHABLE = 4;

export interface WorkersOutcome {
  readonly results: readonly NodeResult[];
  /** Nodes that ended without a result. Their work is missing from `results`. */
  readonly died: number;
  /** The highest of the nodes' exit codes. */
  readonly code: number;
}

export interface Workers {
  send(message: ToWorker): void;
  /** Resolves when all nodes have ended and none will be replaced. */
  readonly ended: Promise<WorkersOutcome>;
}

/** @param plan `draining`: no node is replaced after it is aborted */
export function startWorkers(
  context: Context,
  plan: {
    readonly count: number;
    readonly feeds: readonly string[];
    readonly metrics: WorkerMetrics | null;
    readonly draining: AbortSignal;
    readonly rejections: Rejections;
  },
  display: Display,
  log: Logger,
): Workers {
  const children = new Set<ChildProcess>();
  let lastFeeds: ToWorker | null = null;
  let died = 0;
  let isFinished = false;
  /** Numbers of the nodes that have not joined. A node that joins after the crawl was cleared would start it again. */
  const notJoined = new Set(Array.from({ length: plan.count }, (_, n) => n + 1));
  const sendAssembled = () => {
    for (const child of children) tell(child, { type: 'assembled', all: notJoined.size === 0 });
  };

  const runWorker = async (number: number): Promise<{ result: NodeResult | null; code: number }> => {
    for (let deaths = 0; ; ) {
      const role = { number, feeds: plan.feeds, metricsPort: plan.metrics?.port ?? null };
      const child = spawnNode(context, role, display);
      children.add(child);
      child.on('message', (message: FromWorker) => {
        if (message.type === 'handed') return plan.metrics?.hear(number, message.handed);
        if (message.type === 'joined') notJoined.delete(number);
        sendAssembled();
      });
      if (lastFeeds !== null) tell(child, lastFeeds);
      const startedAt = performance.now();
      const { message, code, signal } = await endOf(child);
      children.delete(child);
      plan.metrics?.drop(number);
      if (message?.type === 'result') {
        plan.rejections.add(message.rejections);
        isFinished ||= message.result.reason === 'finished';
        return { result: message.result, code: code ?? 0 };
      }
      died += 1;
      notJoined.add(number);
      sendAssembled();
      if (plan.draining.aborted) return { result: null, code: codeWhileDraining(code, signal) };
      if (message?.type === 'failed' && (message.code !== UNREACHABLE || deaths === 0)) {
        return { result: null, code: message.code };
      }

      deaths = performance.now() - startedAt > STABLE_AFTER_MS ? 1 : deaths + 1;
      const how = signal === null ? `exit code ${code}` : signal;
      const fields = { worker: number, pid: child.pid, deaths };
      if (deaths >= MAX_DEATHS_IN_A_ROW) {
        log.error(fields, `worker ${number} died (${how}) for the ${deaths}th time in a row: given up`);
        return { result: null, code: 1 };
      }
      log.warn(fields, `worker ${number} died (${how}) and is replaced; other nodes take over its requests`);
      await pause(deaths, plan.draining);
      if (plan.draining.aborted || isFinished) return { result: null, code: 0 };
    }
  };
  const runToEnd = async (number: number) => {
    try {
      return await runWorker(number);
    } finally {
      notJoined.delete(number);
      sendAssembled();
    }
  };

  const ended = Promise.all(Array.from({ length: plan.count }, (_, n) => runToEnd(n + 1)));
  return {
    send(message) {
      if (message.type === 'feeds') lastFeeds = message;
      for (const child of children) tell(child, message);
    },
    ended: ended.then((all) => ({
      died,
      results: all.flatMap(({ result }) => (result === null ? [] : [result])),
      code: Math.max(0, ...all.map(({ code }) => code)),
    })),
  };
}

/** A node that is asked to leave before it listens to signals ends by the signal. Any other death leaves its work to others. */
export function codeWhileDraining(code: number | null, signal: NodeJS.Signals | null): number {
  if (signal === null) return code ?? 1;
  return ['SIGINT', 'SIGTERM', 'SIGHUP'].includes(signal) ? 0 : 1;
}

/** Start a child with the same command line and node options as this process. */
function spawnNode(context: Context, role: WorkerRole, display: Display): ChildProcess {
  const script = process.argv[1]!;
  const { options, env } = memoryBounds(context.env, process.execArgv);
  const child = spawn(process.execPath, [...options, ...process.execArgv, script, ...context.argv], {
    cwd: context.cwd,
    env: { ...env, ...workerEnv(role) },
    // Telemetry has maps.
    serialization: 'advanced',
    // The display writes the lines, so that they do not break its live line.
    stdio: ['ignore', 'inherit', isLive(context) ? 'pipe' : 'inherit', 'ipc'],
  });
  if (child.stderr !== null) {
    const human = readableLine(hasColour(context.env, context.stderr), {
      columns: () => context.stderr.columns,
    });
    eachLine(child.stderr, (line) => display.sink(human(line)));
  }
  return child;
}

/** Wait for a child to end. @returns its last `result` or `failed` message; null when it died without one. */
function endOf(child: ChildProcess): Promise<{
  message: FromWorker | null;
  code: number | null;
  signal: NodeJS.Signals | null;
}> {
  let message: FromWorker | null = null;
  child.on('message', (received: FromWorker) => {
    if (received.type === 'result' || received.type === 'failed') message = received;
  });
  return new Promise((resolve) => {
    // The child could not be spawned; `close` is not emitted then.
    child.once('error', () => resolve({ message: { type: 'failed', code: 1 }, code: 1, signal: null }));
    child.once('close', (code, signal) => resolve({ message, code, signal }));
  });
}

function tell(child: ChildProcess, message: ToWorker): void {
  if (child.connected) child.send(message, () => {});
}

async function pause(deaths: number, draining: AbortSignal): Promise<void> {
  const ms = Math.min(MAX_PAUSE_MS, 250 * 2 ** (deaths - 1));
  await sleep(ms, undefined, { signal: draining }).catch(() => {});
}

/**
 * Node options and environment for a new process. Values that the user set take precedence.
 * @param execArgv the node options of this process, which the new one inherits
 */
function memoryBounds(
  env: Readonly<Record<string, string | undefined>>,
  execArgv: readonly string[],
): { readonly options: readonly string[]; readonly env: Readonly<Record<string, string | undefined>> } {
  const isChosen = [...execArgv, env.NODE_OPTIONS ?? ''].some((options) => /semi[-_]space/.test(options));
  return {
    options: isChosen ? [] : [`--max-semi-space-size=${SEMI_SPACE_MB}`],
    env: { MALLOC_ARENA_MAX: ARENAS, ...env },
  };
}
