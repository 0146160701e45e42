/**
 * Messages between `crawl --workers N` and its nodes. The nodes are child processes of the same executable. An environment
 * variable tells them that they are workers, and Node's IPC channel carries the messages.
 */
import type { FeedTrouble } from '../../feed-outbox.js';
import type { NodeResult, Siblings } from '../../node/node-options.js';
import type { Handed } from '../../node/telemetry/reporter.js';
import type { Signals } from '../signals/crawl-signals.js';
import type { RejectionCount } from './rejections.js';

const VARIABLE = 'CRAWLNODE_WORKER';

/** Passed to a child process when it starts. */
export interface WorkerRole {
  /** From 1. */
  readonly number: number;
  /** Ids of the feeds that the parent writes. */
  readonly feeds: readonly string[];
  /** The port at which the parent serves the metrics; null where it serves none. */
  readonly metricsPort: number | null;
}

export type ToWorker =
  | { readonly type: 'drain' }
  | { readonly type: 'force'; readonly signal: NodeJS.Signals }
  | { readonly type: 'feeds'; readonly failing: FeedTrouble | null }
  /** Whether every node of the parent has joined the crawl or ended. */
  | { readonly type: 'assembled'; readonly all: boolean };

/** A child that exits without sending `result` or `failed` counts as died, whatever its exit code. */
export type FromWorker =
  | { readonly type: 'joined' }
  /** Once a second, where the parent serves metrics. */
  | { readonly type: 'handed'; readonly handed: Handed }
  | { readonly type: 'result'; readonly result: NodeResult; readonly rejections: RejectionCount }
  /** The child failed and has printed why. A replacement would fail in the same way. */
  | { readonly type: 'failed'; readonly code: number };

/** Null unless the process is a worker. */
export function workerRole(env: Readonly<Record<string, string | undefined>>): WorkerRole | null {
  const text = env[VARIABLE];
  return text === undefined || process.send === undefined ? null : (JSON.parse(text) as WorkerRole);
}

export function workerEnv(role: WorkerRole): Record<string, string> {
  return { [VARIABLE]: JSON.stringify(role) };
}

/** The state that a child receives from its parent. */
export interface Parent {
  readonly feedsFailing: () => FeedTrouble | null;
  readonly siblings: Siblings;
}

/** In the child: handle the parent's messages. The parent writes the feeds, so the child drains when the parent is gone. */
export function followParent(signals: Signals, { metricsPort }: WorkerRole): Parent {
  let failing: FeedTrouble | null = null;
  let isAssembled = false;
  process.on('message', (message: ToWorker) => {
    if (message.type === 'drain') signals.requestDrain();
    if (message.type === 'force') signals.requestForce(message.signal);
    if (message.type === 'feeds') failing = message.failing;
    if (message.type === 'assembled') isAssembled = message.all;
  });
  process.on('disconnect', () => signals.requestDrain());
  return {
    feedsFailing: () => failing,
    siblings: {
      joined: () => void sendToParent({ type: 'joined' }),
      missing: () => !isAssembled,
      hear: (handed) => metricsPort !== null && void sendToParent({ type: 'handed', handed }),
      metricsPort,
    },
  };
}

/** In the child: send a message to the parent. Resolves when it is sent, or there is no parent. */
export function sendToParent(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected !== true || process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}
