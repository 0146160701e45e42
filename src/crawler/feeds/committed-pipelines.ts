/**
 * The item pipelines of a node, with delivery to those that have `committed`: while the node works, and until their end
 * when it leaves.
 */
import os from 'node:os';
import { SettingsError } from '../../errors.js';
import { type FeedTrouble, isPipelineOutbox, newOwner, pipelineOutboxId } from '../../feed-outbox.js';
import { howMany } from '../../format-amounts.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';
import { CommittedCaller } from '../../pipelines/committed/committed-batches.js';
import type { ItemPipelines } from '../../pipelines/item-pipeline.js';

export interface CommittedOptions {
  readonly frontier: Frontier;
  readonly pipelines: ItemPipelines;
  /** A node whose claim was not renewed for this time may be replaced. */
  readonly staleMs: number;
  /** FEED_OUTBOX_LIMIT: when more items wait, the crawl pauses. */
  readonly maxWaiting: number;
  /** When the node leaves, it stops waiting for a pipeline that has accepted nothing for this time. */
  readonly graceMs: number;
  /** Aborted to leave at once. */
  readonly force: AbortSignal;
  readonly log: Logger;
}

export interface CommittedPipelines {
  /** `pipelineOutboxId` of each. */
  readonly outboxes: readonly string[];
  /** All pipelines of the node. `committed` is called between opening and closing them. */
  readonly pipelines: ItemPipelines;
  /** Why a pipeline does not accept its items, when too many wait or nothing else is to be done (`isIdle`); else null. */
  failing(isIdle: boolean): FeedTrouble | null;
  /** Whether too many items wait for one of them. */
  isFull(): boolean;
  /** After `pipelines.close`: why items still wait that this node should have delivered; null when none do. */
  unaccepted(): string | null;
}

/** @throws SettingsError where two names of ITEM_PIPELINES are one module with `committed`. */
export function committedPipelines(options: CommittedOptions): CommittedPipelines {
  const { pipelines, frontier, staleMs, maxWaiting, log } = options;
  const self = { host: os.hostname(), pid: process.pid };
  const callers = pipelines.withCommitted.map(({ name, modulePath, batches }) => {
    const writer = { feed: pipelineOutboxId(modulePath), ...self, path: name, owner: newOwner() };
    return new CommittedCaller({
      ...{ outboxes: frontier.feeds, writer, pipeline: batches!, staleMs, maxWaiting, log },
    });
  });
  const outboxes = pipelines.withCommitted.map(({ modulePath }) => pipelineOutboxId(modulePath));
  if (new Set(outboxes).size < outboxes.length) {
    throw new SettingsError('ITEM_PIPELINES names one module with committed() twice: name it once.');
  }
  let unaccepted: string | null = null;

  async function open(): Promise<void> {
    await pipelines.open();
    await nameForgotten();
    for (const caller of callers) caller.start();
  }

  /** Items wait for a pipeline of an earlier run. Without this notice the crawl would finish without delivering them. */
  async function nameForgotten(): Promise<void> {
    const { outbox } = await frontier.snapshot();
    for (const { feed, path, waiting } of outbox) {
      if (waiting === 0 || !isPipelineOutbox(feed) || outboxes.includes(feed)) continue;
      log.warn(
        { pipeline: path, waiting },
        `${howMany(waiting, 'committed item')} still wait for the pipeline ${path}, which ITEM_PIPELINES no longer names: name it again, and the next run passes them on`,
      );
    }
  }

  async function close(hasWaited = false): Promise<void> {
    const graceMs = hasWaited || options.force.aborted ? 0 : options.graceMs;
    unaccepted = callers.length === 0 ? null : 'committed() of an item pipeline did not end in time';
    const left = await Promise.all(callers.map((caller) => caller.stop(graceMs)));
    unaccepted = left.find((why) => why !== null) ?? null;
    await pipelines.close();
  }

  return {
    outboxes,
    pipelines: { ...pipelines, open, close },
    failing(isIdle) {
      const caller = callers.find(({ failing, isFull }) => failing !== null && (isIdle || isFull));
      if (caller === undefined) return null;
      return { why: `${caller.failing} (${caller.waiting} items wait)`, isFinal: false };
    },
    isFull: () => callers.some(({ isFull }) => isFull),
    unaccepted: () => unaccepted,
  };
}
