/** The total timeout of a download. It does not run while this node has paused the download. */
export class Deadline {
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout;
  #leftMs: number;
  #runsSince = performance.now();

  constructor(ms: number, onOver: () => void) {
    this.#onOver = onOver;
    this.#leftMs = ms;
    this.#timer = setTimeout(onOver, ms);
  }

  hold(isHeld: boolean): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    if (isHeld) this.#leftMs -= now - this.#runsSince;
    else this.#timer = setTimeout(this.#onOver, Math.max(1, this.#leftMs));
    this.#runsSince = now;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
