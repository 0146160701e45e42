/**
 * The clock of a crawl: that of the machine plus an offset, so that it never goes back when the machine's clock is set back.
 * Otherwise all that waits for an instant would stand still until then. The offset shrinks by 1 % of the time that passes, and
 * ends with a step forward, so that steps back and forth do not add up.
 * `redis/lua/base/clock.lua` does the same.
 */
import { CLOCK_SAVE_MS, CLOCK_SHRINKS_BY, CLOCK_STEP_MS } from '../../types/limits.js';

/** The last instant that was stored, and by how much it was ahead of the machine's clock. */
export interface StoredClock {
  readonly lastMs: number;
  readonly aheadMs: number;
}

/** @returns the instant, by how much it is ahead, and whether both are to be stored: when a second has passed, or the offset has grown. */
export function crawlClock(
  { lastMs, aheadMs }: StoredClock,
  wallMs: number,
): { readonly atMs: number; readonly aheadMs: number; readonly isToStore: boolean } {
  const atMs = wallMs + aheadMs;
  if (atMs < lastMs) return { atMs: lastMs, aheadMs: lastMs - wallMs, isToStore: true };
  if (aheadMs > 0 && atMs - lastMs > CLOCK_STEP_MS) {
    const needed = Math.max(0, lastMs - wallMs);
    return { atMs: wallMs + needed, aheadMs: needed, isToStore: true };
  }
  const left = Math.max(0, aheadMs - Math.floor((atMs - lastMs) / CLOCK_SHRINKS_BY));
  const isToStore = wallMs + left - lastMs >= CLOCK_SAVE_MS;
  return { atMs: wallMs + left, aheadMs: left, isToStore };
}
