/** How fast a download gets on: whether it stalls, and whether its body comes too slowly to be worth waiting for. */

/** How often downloads are looked at. A main loop that stood still for longer counts as one interval. */
export const PACE_INTERVAL_MS = 500;
/** Without progress for so long a download no longer counts against the concurrency. */
const STALL_INTERVALS = 4;
/** The minimum rate is an average over 30 s, so that a server may pause for half a minute. */
const RATE_INTERVALS = 60;
export const RATE_WINDOW_S = (RATE_INTERVALS * PACE_INTERVAL_MS) / 1_000;

/** Called once an interval while a download is under way and not paused by this node. */
export class Pace {
  readonly #minBytesPerSecond: number;
  #seenBytes = 0;
  #idleIntervals = 0;
  #windowIntervals = 0;
  #windowBytes = 0;

  /** @param minBytesPerSecond DOWNLOAD_MIN_RATE; 0 for none. */
  constructor(minBytesPerSecond: number) {
    this.#minBytesPerSecond = minBytesPerSecond;
  }

  /** Nothing has come for 2 s, or less than the minimum rate asks for. */
  get isStalled(): boolean {
    return this.#idleIntervals >= STALL_INTERVALS;
  }

  /** The stall is over: something came that is no byte of the body, such as the headers. */
  progressed(): void {
    this.#idleIntervals = 0;
  }

  /**
   * @param bodyBytes received so far. @param inBody from the headers on.
   * @returns false when the body has been slower than the minimum rate for a whole window.
   */
  isFastEnough(bodyBytes: number, inBody: boolean): boolean {
    const bytes = bodyBytes - this.#seenBytes;
    this.#seenBytes = bodyBytes;
    const isProgress = bytes > 0 && (bytes * 1_000) / PACE_INTERVAL_MS >= this.#minBytesPerSecond;
    this.#idleIntervals = isProgress ? 0 : this.#idleIntervals + 1;
    if (!inBody || this.#minBytesPerSecond === 0) return true;
    this.#windowIntervals += 1;
    this.#windowBytes += bytes;
    if (this.#windowIntervals < RATE_INTERVALS) return true;
    const isFast = this.#windowBytes >= this.#minBytesPerSecond * RATE_WINDOW_S;
    this.#windowIntervals = 0;
    this.#windowBytes = 0;
    return isFast;
  }
}
