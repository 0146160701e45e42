/** The files of a crawl while it runs. Each has one writer, which empties its outbox. */
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../errors.js';
import { type FeedTrouble, isPipelineOutbox } from '../../feed-outbox.js';
import type { FeedFile, FeedOptions } from '../../pipelines/feeds/feed-writer.js';
import type { FeedTarget } from './feed-targets.js';
import { type FeedsOfCrawl, openTarget, writerOf } from './open-target.js';
import { openWhenFree } from './open-when-free.js';

/** Fields of items that a file has no column for, and fields of FEEDS that no item has. */
export interface LeftOut {
  readonly path: string;
  readonly fields: ReadonlySet<string>;
  /** How many items have one of them. */
  readonly items: number;
  readonly absent: readonly string[];
}

/** The feeds of a crawl while it runs. */
export interface OpenFeeds {
  /** What is missing in the files so far, an entry for each file that lacks something. */
  leftOut(): LeftOut[];
  /** Why no more items may be committed: a file cannot be written and its outbox is full; null when all is well. */
  failing(): FeedTrouble | null;
  /**
   * Write the remaining items, while `leftMs` says so, and release the files. @returns why some items could not be written; null
   * when all were.
   */
  close(leftMs: () => number): Promise<FeedTrouble | null>;
}

export interface FeedsOptions extends FeedsOfCrawl {
  /** For `-o -`; without it items cannot be printed. */
  readonly stdout?: Writable | undefined;
  /** Aborted to stop waiting for a file that another process has. */
  readonly drain: AbortSignal;
}

const LOOK_MS = 1_000;

/** @throws FeedHeldError when another writer holds a file; CrawlnodeError when it cannot be written. */
export async function openFeeds(targets: readonly FeedTarget[], options: FeedsOptions): Promise<OpenFeeds> {
  const leftOut = new Map<string, LeftOut>();
  const files = await openFiles(targets, options, leftOut);
  const stop = new AbortController();
  let lost: string | null = null;
  const running = files.map((file) =>
    file.run(stop.signal).catch((error: Error) => {
      lost = error.message;
    }),
  );
  const unwritten = () => lost ?? files.find((file) => file.failing !== null)?.failing ?? null;
  const overflow = watchOverflow(options, unwritten);
  return {
    leftOut: () => [...leftOut.values()].filter(({ fields, absent }) => fields.size > 0 || absent.length > 0),
    failing() {
      const why = lost ?? overflow.why();
      return why === null ? null : { why, isFinal: lost !== null };
    },
    async close(leftMs) {
      overflow.stop();
      stop.abort();
      const inTime = (work: Promise<unknown>) => within(work, () => leftMs() + LOOK_MS);
      // These calls run at the same time: each waits long for a store that hangs.
      let isSettled = await inTime(Promise.all(running));
      while (isSettled && lost === null && unwritten() !== null && leftMs() > 0) {
        await sleep(Math.min(LOOK_MS, leftMs()));
        isSettled = await inTime(Promise.all(files.map((file) => file.drain().catch(() => {}))));
      }
      await within(Promise.all(files.map((file) => file.close().catch(() => {}))), () => LOOK_MS);
      if (lost !== null) return { why: lost, isFinal: true };
      const why = unwritten() ?? (isSettled || files.length === 0 ? null : 'the frontier does not answer');
      return why === null ? null : { why, isFinal: false };
    },
  };
}

/** Whether it came to its end in time. The time that is left may change meanwhile. */
async function within(work: Promise<unknown>, leftMs: () => number): Promise<boolean> {
  const done = work.then(() => true);
  for (;;) {
    const left = leftMs();
    const timer = new AbortController();
    const late = sleep(Math.min(LOOK_MS, Math.max(0, left)), false, { signal: timer.signal });
    const isDone = await Promise.race([done, late.catch(() => false)]);
    timer.abort();
    if (isDone || left <= LOOK_MS) return isDone;
  }
}

/** All of them or none. */
async function openFiles(
  targets: readonly FeedTarget[],
  options: FeedsOptions,
  leftOut: Map<string, LeftOut>,
): Promise<FeedFile[]> {
  const files: FeedFile[] = [];
  try {
    for (const target of targets) {
      const { id, path } = target;
      const stdout = target.isStdout ? options.stdout : undefined;
      if (target.isStdout && stdout === undefined)
        throw new UsageError('items cannot go to standard output here');
      const writer = writerOf(target);
      const onRendered: FeedOptions['onRendered'] = ({ leftOut: gap, absent = [] }) => {
        const before = leftOut.get(id) ?? { fields: [], items: 0, absent };
        leftOut.set(id, {
          path,
          fields: new Set([...before.fields, ...(gap?.fields ?? [])]),
          items: before.items + (gap?.items ?? 0),
          absent: before.absent.filter((field) => absent.includes(field)),
        });
      };
      const open = () => openTarget(target, writer, options, { stdout, onRendered });
      files.push(await openWhenFree(open, { ...options, file: path }));
    }
    return files;
  } catch (error) {
    await Promise.all(files.map((file) => file.close().catch(() => {})));
    throw error;
  }
}

/** The number of committed items that wait for a file is limited. */
function watchOverflow({ frontier, settings }: FeedsOptions, unwritten: () => string | null) {
  let why: string | null = null;
  const timer = setInterval(async () => {
    const reason = unwritten();
    if (reason === null) {
      why = null;
      return;
    }
    const { outbox } = await frontier.snapshot().catch(() => ({ outbox: [] }));
    const files = outbox.filter(({ feed }) => !isPipelineOutbox(feed));
    const waiting = files.reduce((most, feed) => Math.max(most, feed.waiting), 0);
    if (waiting > settings.FEED_OUTBOX_LIMIT) why = `${reason} (${waiting} items wait)`;
  }, LOOK_MS);
  timer.unref();
  return { why: () => why, stop: () => clearInterval(timer) };
}
