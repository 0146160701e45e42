/** The progress of a download: whether it is stalled, and whether its body is slower than the minimum rate. */

/** How often downloads are checked. If the main loop is blocked for longer, that counts as one interval. */
export const PACE_INTERVAL_MS = 125;
/** After a second without progress a download no longer counts against the concurrency. */
const STALL_MS = 1_000;
/** Where servers answer fast it does so earlier, after so many times what they usually take. */
const STALL_LATENCIES = 5;
/** The minimum rate is an average over 30 s, so that a server may pause for half a minute. */
const RATE_WINDOW_MS = 30_000;

/**
 * What half of the downloads of a node take to answer, at most. An estimate that moves by a tenth with each of them, so that a few
 * which take seconds do not matter.
 */
export class UsualLatency {
  #ms = STALL_MS;

  note(latencyMs: number): void {
    this.#ms = latencyMs > this.#ms ? Math.min(this.#ms * 1.1, STALL_MS) : Math.max(this.#ms / 1.1, 1);
  }

  /** After how many intervals without progress a download is stalled. The first one may have been cut short by its start. */
  get stallIntervals(): number {
    const most = STALL_MS / PACE_INTERVAL_MS;
    return Math.min(most, 1 + Math.ceil((STALL_LATENCIES * this.#ms) / PACE_INTERVAL_MS));
  }
}

/** Called once an interval while a download is under way and not paused by this node. */
export class Pace {
  readonly #minBytesPerSecond: number;
  /** The time over which the rate is an average. */
  readonly rateWindowMs: number;
  readonly #usual: UsualLatency;
  #lastBodyBytes = 0;
  #idleIntervals = 0;
  #windowIntervals = 0;
  #windowBytes = 0;

  /** @param minBytesPerSecond DOWNLOAD_MIN_RATE; 0 for none. */
  constructor(minBytesPerSecond: number, rateWindowMs = RATE_WINDOW_MS, usual = new UsualLatency()) {
    this.#minBytesPerSecond = minBytesPerSecond;
    this.rateWindowMs = rateWindowMs;
    this.#usual = usual;
  }

  /** Nothing has been received for a while, or less than the minimum rate requires. */
  get isStalled(): boolean {
    return this.#idleIntervals >= this.#usual.stallIntervals;
  }

  /** End the stall: something other than body bytes was received, such as the headers. */
  progressed(): void {
    this.#idleIntervals = 0;
  }

  /**
   * @param bodyBytes received so far.
   * @param inBody whether the headers were received.
   * @returns false when the body was slower than the minimum rate over a whole window.
   */
  isFastEnough(bodyBytes: number, inBody: boolean): boolean {
    const bytes = bodyBytes - this.#lastBodyBytes;
    this.#lastBodyBytes = bodyBytes;
    const isProgress = bytes > 0 && (bytes * 1_000) / PACE_INTERVAL_MS >= this.#minBytesPerSecond;
    this.#idleIntervals = isProgress ? 0 : this.#idleIntervals + 1;
    if (!inBody || this.#minBytesPerSecond === 0) return true;
    this.#windowIntervals += 1;
    this.#windowBytes += bytes;
    const windowMs = this.#windowIntervals * PACE_INTERVAL_MS;
    if (windowMs < this.rateWindowMs) return true;
    const isFast = this.#windowBytes * 1_000 >= this.#minBytesPerSecond * windowMs;
    this.#windowIntervals = 0;
    this.#windowBytes = 0;
    return isFast;
  }
}
