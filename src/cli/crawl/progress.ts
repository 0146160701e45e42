/** The progress of the whole crawl while it runs: one live line on a terminal, else log lines at an interval. */
import { committedItems, doneShare } from '../../crawler/stats/crawl-stats.js';
import { freshAssessment } from '../../crawler/stats/read-stats.js';
import type { Frontier, Snapshot } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';
import { type Context, logIsJson } from '../context.js';
import { liveLine } from '../terminal/live-line.js';
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
  return isLive(context) ? liveDisplay(context) : loggedDisplay(context, logEveryMs);
}

async function liveDisplay(context: Context): Promise<Display> {
  let text = () => '';
  let stopPolling = () => {};
  const line = await liveLine(context, () => text(), DRAW_INTERVAL_MS);
  return {
    sink: (written) => line.above(() => context.stderr.write(written)),
    start(frontier, _log, trouble) {
      const rate = pageRate();
      const startedAt = performance.now();
      let last: { progress: Progress; control: ProgressNotes['control']; at: number } | null = null;
      stopPolling = pollSnapshots(frontier, DRAW_INTERVAL_MS, (snapshot) => {
        const progress = progressOf(snapshot, rate(snapshot));
        last = { progress, control: snapshot.control, at: performance.now() };
      });
      text = () => {
        if (last === null) return '';
        const now = performance.now();
        const silence = now - last.at > STALE_AFTER_MS ? `no reply from ${storeName(frontier)}` : null;
        const notes = { control: last.control, elapsedMs: now - startedAt, trouble: silence ?? trouble() };
        return progressLine(last.progress, notes, context.stderr.columns);
      };
    },
    stop() {
      stopPolling();
      line.stop();
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
  const counts = { pages: done + failed, pagesPerSecond, pending, delayed, leased, failed };
  const assessment = freshAssessment(snapshot);
  const eta = assessment?.eta ?? null;
  return {
    ...{ ...counts, items: committedItems(snapshot), nodes: nodes.length },
    limitedBy: assessment?.limitedBy ?? null,
    ...{ doneShare: doneShare({ ...snapshot, eta }), etaSeconds: eta?.seconds ?? null },
  };
}
