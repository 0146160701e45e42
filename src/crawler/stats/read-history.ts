/** Reads the history of a crawl. */
import type { Frontier, HistoryPoint } from '../../frontier/frontier.js';
import { HISTORY_LONG_STEP_MS, HISTORY_POINTS, HISTORY_STEP_MS } from '../../frontier/types/limits.js';

/** A span of time; instants since 1970. */
export interface HistorySpan {
  readonly fromMs: number;
  readonly toMs: number;
  /** A point for each step. Null: every ten seconds where the store still has them, else every minute. */
  readonly stepMs: number | null;
}

/** The points of a span, in order: of each step the last one. None where no node ran. */
export async function readHistory(
  { telemetry }: Pick<Frontier, 'telemetry'>,
  { fromMs, toMs, stepMs }: HistorySpan,
): Promise<HistoryPoint[]> {
  // The clock of the store may differ a little from that of the one who asks.
  const keptFromMs = Date.now() - HISTORY_POINTS * HISTORY_STEP_MS - HISTORY_LONG_STEP_MS;
  const isFine = fromMs >= keptFromMs && (stepMs ?? 0) < HISTORY_LONG_STEP_MS;
  const points = await telemetry.history(isFine ? 'ten_seconds' : 'minute', fromMs, toMs);
  return stepMs === null ? points : thinned(points, stepMs);
}

/** The last point of each step. */
export function thinned(points: readonly HistoryPoint[], stepMs: number): HistoryPoint[] {
  const byStep = new Map(points.map((point) => [Math.floor(point.atMs / stepMs), point]));
  return [...byStep.values()];
}
