/** The progress of the whole crawl while it runs: one live line on a terminal, else log lines at an interval. */
import { committedItems } from '../../crawler/stats/crawl-stats.js';
import type { Frontier, Snapshot } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';
import { type Context, logIsJson } from '../context.js';
import { type Redraw, redrawOn } from '../terminal/live-line.js';
import { type Progress, type ProgressNotes, progressLine } from './progress-line.js';

const DRAW_INTERVAL_MS = 1_000;
/** When the store has not answered for this long, the line says so. */
const STALE_AFTER_MS = 3_000;

export interface Display {
  /** Write a line of the log above the live line. */
  sink(line: string): void;
  /** Start to show the crawl. @param trouble why it makes no progress, in a few words; null when it does. */
  start(frontier: Pick<Frontier, 'snapshot' | 'engine'>, log: Logger, trouble: () => string | null): void;
  /** Remove the live line. */
  stop(): void;
}

/** Whether the display is a live line, above which all else is written. */
export const isLive = (context: Context) => context.stderr.isTTY && !logIsJson(context);

/** @param logEveryMs the interval of log lines where there is no live line; 0 for none. */
export async function createDisplay(context: Context, logEveryMs: number): Promise<Display> {
  if (!isLive(context)) return loggedDisplay(context, logEveryMs);
  return live(context, await redrawOn(process.stderr, true));
}

function live(context: Context, update: Redraw): Display {
  let text = '';
  let stop = () => {};
  return {
    sink(line) {
      update.clear();
      context.stderr.write(line);
      if (text !== '') update(text);
    },
    start(frontier, _log, trouble) {
      const rate = pageRate();
      const startedAt = performance.now();
      let last: { progress: Progress; control: ProgressNotes['control'] } | null = null;
      let lastAnswerAt = startedAt;
      const stopPolling = pollSnapshots(frontier, DRAW_INTERVAL_MS, (snapshot) => {
        lastAnswerAt = performance.now();
        last = { progress: progressOf(snapshot, rate(snapshot)), control: snapshot.control };
        draw();
      });
      const draw = () => {
        if (last === null) return;
        const now = performance.now();
        const silence = now - lastAnswerAt > STALE_AFTER_MS ? `no reply from ${storeName(frontier)}` : null;
        const notes = {
          control: last.control,
          elapsedMs: now - startedAt,
          trouble: silence ?? trouble(),
        };
        text = progressLine(last.progress, notes, context.stderr.columns);
        update(text);
      };
      const timer = setInterval(draw, DRAW_INTERVAL_MS);
      timer.unref();
      stop = () => {
        clearInterval(timer);
        stopPolling();
      };
    },
    stop() {
      stop();
      text = '';
      update.clear();
    },
  };
}

function loggedDisplay(context: Context, everyMs: number): Display {
  let stop = () => {};
  return {
    sink: (line) => context.stderr.write(line),
    start(frontier, log, _trouble) {
      if (everyMs === 0) return;
      const rate = pageRate();
      // The first line shows the pages since now.
      frontier.snapshot().then(rate, () => {});
      stop = pollSnapshots(frontier, everyMs, (snapshot) =>
        log.info(progressOf(snapshot, rate(snapshot)), 'progress of the crawl, over all its nodes'),
      );
    },
    stop: () => stop(),
  };
}

/** Take a snapshot at an interval, one at a time. Errors are ignored, because the node reports an unreachable store. */
function pollSnapshots(
  frontier: Pick<Frontier, 'snapshot'>,
  everyMs: number,
  show: (snapshot: Snapshot) => void,
): () => void {
  let isPolling = false;
  let isStopped = false;
  const poll = async () => {
    if (isPolling) return;
    isPolling = true;
    try {
      const snapshot = await frontier.snapshot();
      if (!isStopped) show(snapshot);
    } catch {
      // The next snapshot may succeed.
    } finally {
      isPolling = false;
    }
  };
  const timer = setInterval(poll, everyMs);
  timer.unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

const storeName = ({ engine }: Pick<Frontier, 'engine'>) => (engine === 'redis' ? 'Redis' : 'the store');

/** Pages per second of all nodes, between two snapshots. */
function pageRate(): (snapshot: Snapshot) => number {
  let last: { pages: number; at: number } | null = null;
  return (snapshot) => {
    const now = { pages: snapshot.done + snapshot.failed, at: performance.now() };
    const rate = last === null ? 0 : ((now.pages - last.pages) * 1000) / (now.at - last.at);
    last = now;
    return Math.max(0, Math.round(rate * 10) / 10);
  };
}

function progressOf(snapshot: Snapshot, pagesPerSecond: number): Progress {
  const { done, failed, pending, delayed, leased, nodes } = snapshot;
  const items = committedItems(snapshot);
  return {
    pages: done + failed,
    pagesPerSecond,
    pending,
    delayed,
    leased,
    failed,
    items,
    nodes: nodes.length,
  };
}
