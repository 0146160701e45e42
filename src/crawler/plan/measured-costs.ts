/** What the pages of a crawl have cost, by its counters and its history. */
import { UsageError } from '../../errors.js';
import type { Frontier, HistoryPoint, Snapshot } from '../../frontier/frontier.js';
import { readHistory } from '../stats/read-history.js';
import { benchedPage, type PageCosts } from './costs.js';

/** Fewer pages say nothing. */
const LEAST_PAGES = 100;
/** Points further apart have a time between them in which no node ran. */
const MOST_APART_MS = 90_000;

export interface MeasuredCosts {
  readonly costs: PageCosts;
  /** Pages of the history that they are the mean of. */
  readonly pages: number;
  /** False on the embedded engine, and where INFO may not be asked: the bench's figure stands for it. */
  readonly isRedisMeasured: boolean;
}

/** @param keptForMs how long the history is kept. @throws UsageError when too few pages were measured */
export async function measuredCosts(
  frontier: Pick<Frontier, 'snapshot' | 'telemetry'>,
  keptForMs: number,
): Promise<MeasuredCosts> {
  const nowMs = Date.now();
  const snapshot = await frontier.snapshot();
  const fromMs = Math.max(snapshot.beganAtMs ?? 0, nowMs - keptForMs);
  // The clock of the store may be ahead.
  const points = await readHistory(frontier, { fromMs, toMs: nowMs + 60_000, stepMs: null });
  const measured = costsOf(snapshot, points);
  if (measured.pages < LEAST_PAGES)
    throw new UsageError(
      `too little was measured of this crawl: ${measured.pages} pages between points of its history, and ${LEAST_PAGES} are needed. Crawl a sample of the pages for a minute or longer, then plan again`,
    );
  return measured;
}

/** @param points of the history, in order */
export function costsOf(
  snapshot: Pick<Snapshot, 'counters' | 'done' | 'failed'>,
  points: readonly HistoryPoint[],
): MeasuredCosts {
  const { pages, nodeMs, slotMs, redisMs } = spentOver(points);
  const isRedisMeasured = redisMs !== null && redisMs > 0;
  return {
    costs: {
      ...{ nodeMs: nodeMs / pages, slotMs: slotMs / pages },
      redisMs: isRedisMeasured ? redisMs / pages : benchedPage.redisMs,
      ...downloadsOf(snapshot),
      waitingShare: waitingShareOf(points),
    },
    ...{ pages, isRedisMeasured },
  };
}

/** Each point stands for the time since the one before. `redisMs` is null where no two points have it. */
function spentOver(points: readonly HistoryPoint[]) {
  const spent = { pages: 0, nodeMs: 0, slotMs: 0, redisMs: null as number | null };
  for (const [at, point] of points.entries()) {
    const before = points[at - 1];
    const pages = point.pages - (before?.pages ?? point.pages);
    // A total that has decreased was reset.
    if (before === undefined || pages < 0 || point.atMs - before.atMs > MOST_APART_MS) continue;
    // The CPU of a node that has left is missing in the point, and its pages are not.
    if (point.nodes < before.nodes) continue;
    const forMs = point.atMs - before.atMs;
    spent.pages += pages;
    spent.nodeMs += point.nodesCpu * forMs;
    spent.slotMs += ((before.leased + point.leased) / 2) * forMs;
    // The CPU time of a server that was started again begins anew.
    const redisMs = (point.storeCpuSeconds ?? Number.NaN) - (before.storeCpuSeconds ?? Number.NaN);
    if (redisMs >= 0) spent.redisMs = (spent.redisMs ?? 0) + redisMs * 1_000;
  }
  return spent;
}

function downloadsOf({
  counters,
  done,
  failed,
}: Parameters<typeof costsOf>[0]): Pick<PageCosts, 'bytes' | 'downloads'> {
  const pages = Math.max(1, done + failed);
  return {
    bytes: (counters['downloader/response_bytes'] ?? 0) / pages,
    downloads: (counters['downloader/request_count'] ?? pages) / pages,
  };
}

function waitingShareOf(points: readonly HistoryPoint[]): number {
  const waiting = points.map(({ pending, delayed, leased }) => pending + delayed + leased);
  return Math.max(...waiting) / Math.max(1, ...points.map(({ accepted }) => accepted));
}
