/**
 * Calls `committed` of an item pipeline with the committed items of the whole crawl. One node at a time does:
 *
 * ```
 * settle ──► outbox in the store ── read ──► committed(batch) ── it resolves ──► checkpoint ──► dropped from the outbox
 * ```
 *
 * A node that dies between the call and the checkpoint leaves the batch in the outbox, and the next node calls with it
 * again. So an item comes at least once, in the order of the commits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CrawlnodeError, FrontierUnavailableError, messageOf, RefusedError } from '../../errors.js';
import type { FeedWriter, PipelineOutboxes } from '../../feed-outbox.js';
import type { Logger } from '../../log.js';
import { placeOf } from '../../user-code/where-thrown.js';
import { type CommittedItem, committedItem, countDamaged, uniqueBatch } from './committed-item.js';

/** What is called, and with how many items. */
export interface BatchPipeline {
  /** As ITEM_PIPELINES names it. */
  readonly name: string;
  committed(batch: readonly CommittedItem[]): unknown;
  readonly batchItems: number;
  /** A batch that is not full is delivered when its first item has waited for this time. */
  readonly batchMs: number;
}

export interface CallerOptions {
  readonly outboxes: PipelineOutboxes;
  readonly writer: FeedWriter;
  readonly pipeline: BatchPipeline;
  /** A node whose claim was not renewed for this time may be replaced. */
  readonly staleMs: number;
  /** More waiting items than this are too many. */
  readonly maxWaiting: number;
  readonly log: Logger;
}

const MIN_POLL_MS = 50;
const MAX_POLL_MS = 500;
/** How often a node checks whether the pipeline needs a new caller. */
const OTHERS_POLL_MS = 1_000;
const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 10_000;
const LAST_WORDS_MS = 1_000;

export class CommittedCaller {
  readonly #options: CallerOptions;
  readonly #stop = new AbortController();
  /**
   * The checkpoint in the store: what the pipeline has accepted. Null while another node calls the pipeline, or none does.
   */
  #accepted: number | null = null;
  /** A checkpoint that the pipeline has accepted, but which the store may not have yet. */
  #unconfirmed: number | null = null;
  /** The items of `#unconfirmed`, as the store has them. */
  #unconfirmedItems: readonly string[] = [];
  /** How many of them were no items. */
  #unconfirmedDamaged = 0;
  #confirmedAt = 0;
  #waiting = 0;
  #waitingSince: number | null = null;
  /** Since when `committed` has not resolved; null while it is not called. */
  #calledAt: number | null = null;
  #failing: string | null = null;
  #pauseMs = MIN_POLL_MS;
  #progressAt = performance.now();
  /** When this node was told to leave: how many of the items that waited then are still to be delivered. */
  #left = Number.POSITIVE_INFINITY;
  #running: Promise<void> | null = null;
  #isFirst = true;
  #isOver = false;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Why the pipeline accepts no items at present; null when all is well, or another node calls it. */
  get failing(): string | null {
    const { pipeline, staleMs } = this.#options;
    if (this.#failing !== null) return this.#failing;
    const forMs = this.#calledAt === null ? 0 : performance.now() - this.#calledAt;
    return forMs < staleMs
      ? null
      : `committed() of ${pipeline.name} has not resolved for ${Math.round(forMs / 1_000)} s`;
  }

  /** How many items of the whole crawl wait for the pipeline, by the last answer of the store. */
  get waiting(): number {
    return this.#waiting;
  }

  get isFull(): boolean {
    return this.#waiting > this.#options.maxWaiting;
  }

  /** Start delivering items whenever no other node does. */
  start(): void {
    this.#running = this.#run();
  }

  /**
   * Deliver the items that wait now, as long as the pipeline accepts some within every `graceMs`. Then let another node
   * continue.
   * @returns why some of them still wait; null when none do, or another node calls the pipeline.
   */
  async stop(graceMs: number): Promise<string | null> {
    this.#progressAt = performance.now();
    this.#stop.abort();
    while (!this.#isOver && performance.now() - this.#progressAt < graceMs) {
      await Promise.race([this.#running, sleep(MIN_POLL_MS)]);
    }
    const left = this.#accepted === null ? 0 : Math.min(this.#left, this.#waiting);
    this.#isOver = true;
    const released = this.#accepted === null ? null : this.#options.outboxes.release(this.#options.writer);
    await Promise.race([released?.catch(() => {}), sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    return left === 0 ? null : this.#whyLeft(left);
  }

  #whyLeft(left: number): string {
    const why = this.failing ?? `committed() of ${this.#options.pipeline.name} was too slow`;
    return `${why} (${left} items wait)`;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      let pauseMs: number;
      try {
        pauseMs = await this.#step();
      } catch (error) {
        pauseMs = this.#pauseAfter(error);
      }
      // The backoff applies after the stop too, so that a failing pipeline is not called without a pause.
      const signal = this.#failing === null && !this.#stop.signal.aborted ? this.#stop.signal : undefined;
      if (pauseMs > 0 && !this.#isOver) await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** @returns after how many ms to go on. */
  async #step(): Promise<number> {
    const { outboxes, writer, pipeline } = this.#options;
    const isLast = this.#stop.signal.aborted;
    // Registered at once, so that the store has the name of the pipeline.
    if (this.#isFirst) {
      this.#isFirst = false;
      await this.#hold();
    }
    await this.#confirm();
    this.#waiting = await outboxes.waiting(writer.feed);
    if (isLast) this.#left = Math.min(this.#left, this.#waiting);
    if (this.#waiting === 0 || this.#left <= 0) {
      this.#waitingSince = null;
      this.#note(null);
      if (isLast) this.#isOver = true;
      this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_POLL_MS);
      return isLast ? 0 : this.#pauseMs;
    }
    await this.#hold();
    this.#waitingSince ??= performance.now();
    const dueInMs = this.#waitingSince + pipeline.batchMs - performance.now();
    if (!isLast && this.#waiting < pipeline.batchItems && dueInMs > 0) return Math.min(dueInMs, MAX_POLL_MS);
    await this.#passOn();
    this.#waitingSince = null;
    this.#pauseMs = MIN_POLL_MS;
    return 0;
  }

  /** Become the node that calls the pipeline, or make sure that this node still is. @throws RefusedError while another is. */
  async #hold(): Promise<void> {
    const { outboxes, writer, staleMs } = this.#options;
    if (this.#accepted === null) {
      const checkpoint = await outboxes.open(writer, { staleMs });
      this.#accepted = checkpoint?.sequence ?? 0;
      this.#confirmedAt = performance.now();
    } else if (performance.now() - this.#confirmedAt > staleMs / 4) {
      await this.#renew();
    }
  }

  async #passOn(): Promise<void> {
    const { outboxes, writer, pipeline, staleMs, log } = this.#options;
    const from = this.#accepted!;
    const texts = await outboxes.read(writer.feed, from, pipeline.batchItems);
    if (texts.length === 0) return;
    const batch = uniqueBatch(texts.map((text, n) => committedItem(text, from + n + 1, pipeline.name, log)));
    const count = batch.length;
    const firstId = batch[0]!.id;
    // While `committed` runs, the claim must be renewed, or other nodes take over.
    const renewing = setInterval(() => void this.#renew().catch(() => {}), staleMs / 4);
    this.#calledAt = performance.now();
    try {
      // A copy, since a pipeline may change its batch.
      await pipeline.committed([...batch]);
    } catch (error) {
      throw new NotAccepted(
        `committed() of ${pipeline.name} failed: ${messageOf(error)}${placeOf(error)}`,
        firstId,
      );
    } finally {
      clearInterval(renewing);
      this.#calledAt = null;
    }
    this.#note(null);
    this.#progressAt = performance.now();
    this.#unconfirmed = from + count;
    this.#unconfirmedItems = texts.slice(0, count);
    this.#unconfirmedDamaged = countDamaged(batch);
    this.#left -= count;
    await this.#confirm();
  }

  async #confirm(): Promise<void> {
    if (this.#unconfirmed === null || this.#accepted === null) return;
    const { outboxes, writer } = this.#options;
    const checkpoint = { sequence: this.#unconfirmed, lengthBytes: 0, header: '' };
    const [items, damaged] = [this.#unconfirmedItems, this.#unconfirmedDamaged];
    await outboxes.checkpoint(writer, checkpoint, this.#accepted, items, damaged);
    this.#waiting -= this.#unconfirmed - this.#accepted;
    this.#accepted = this.#unconfirmed;
    this.#unconfirmed = null;
    this.#unconfirmedItems = [];
    this.#confirmedAt = performance.now();
  }

  async #renew(): Promise<void> {
    if (this.#accepted === null) return;
    const { outboxes, writer } = this.#options;
    const same = { sequence: this.#accepted, lengthBytes: 0, header: '' };
    await outboxes.checkpoint(writer, same, this.#accepted);
    this.#confirmedAt = performance.now();
  }

  /** Handle an error. @returns the time in ms until the next attempt. */
  #pauseAfter(error: unknown): number {
    const isLast = this.#stop.signal.aborted;
    if (error instanceof RefusedError) {
      // Another node calls the pipeline.
      this.#accepted = null;
      this.#unconfirmed = null;
      this.#failing = null;
      if (isLast) this.#isOver = true;
      return OTHERS_POLL_MS;
    }
    if (error instanceof CrawlnodeError && error.code === 'feed_rolled_back') {
      this.#accepted = null;
      this.#unconfirmed = null;
      return MIN_POLL_MS;
    }
    // The node reports an outage of the store, except at the end.
    if (!(error instanceof FrontierUnavailableError) || isLast) this.#note(error);
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, MIN_BACKOFF_MS), MAX_BACKOFF_MS);
    return this.#pauseMs;
  }

  /** Log the first failure and the recovery, not each attempt. */
  #note(error: unknown): void {
    const { pipeline, log } = this.#options;
    const was = this.#failing;
    this.#failing = error === null ? null : messageOf(error);
    if (was === null && this.#failing !== null) {
      const first = error instanceof NotAccepted ? { firstItem: error.firstItem } : {};
      const message = `${this.#failing}; it is called again, and committed items wait in the store until it accepts them`;
      log.error({ pipeline: pipeline.name, ...first }, message);
    }
    if (was !== null && this.#failing === null) {
      log.info({ pipeline: pipeline.name }, 'the pipeline accepts committed items again');
    }
  }
}

/** `committed` threw, or its promise was rejected. */
class NotAccepted extends Error {
  readonly firstItem: string;

  constructor(message: string, firstItem: string) {
    super(message);
    this.firstItem = firstItem;
  }
}
