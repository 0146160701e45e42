/**
 * The bytes that unfinished downloads of a node hold together (DOWNLOAD_BUFFER_LIMIT). Over the limit one body reads on, the
 * oldest, and the others pause until enough is given back: so each ends in its turn, and memory stays bounded however many
 * endless bodies there are.
 */

/** Smaller bodies are not counted and never pause: they are most pages, and together they hold little. */
const COUNTED_FROM_BYTES = 256 * 1024;

/** What the budget may pause: a connection, or the inflating of what came over it. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/** The node's budget. */
export class BodyBudget {
  readonly #limitBytes: number;
  /** The counted bodies, the one that reads on first. */
  readonly #shares = new Set<BodyShare>();
  #heldBytes = 0;

  /** @param limitBytes 0 for no limit. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Count `bytes` more of a share, and pause whom this calls for. */
  take(share: BodyShare, bytes: number): void {
    if (this.#limitBytes === 0) return;
    this.#shares.add(share);
    this.#heldBytes += bytes;
    this.#arrange();
  }

  /** A share ends. */
  giveBack(share: BodyShare, bytes: number): void {
    if (!this.#shares.delete(share)) return;
    this.#heldBytes -= bytes;
    this.#arrange();
  }

  /** The server of a share sends nothing: others go before it, so that it does not hold them up. */
  goLast(share: BodyShare): void {
    if (this.#heldBytes <= this.#limitBytes || !this.#shares.delete(share)) return;
    this.#shares.add(share);
    this.#arrange();
  }

  #arrange(): void {
    let mayRead = true;
    for (const share of this.#shares) {
      share.setPaused(!mayRead);
      if (this.#heldBytes > this.#limitBytes) mayRead = false;
    }
  }
}

/** What one body holds of the budget. */
export class BodyShare {
  readonly #budget: BodyBudget;
  readonly #onPause: (isPaused: boolean) => void;
  #source: Pausable | null = null;
  #heldBytes = 0;
  #countedBytes = 0;
  #isPaused = false;

  /** @param onPause hears when it pauses and when it goes on. */
  constructor(budget: BodyBudget, onPause: (isPaused: boolean) => void) {
    this.#budget = budget;
    this.#onPause = onPause;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Where further bytes come from. */
  readFrom(source: Pausable): void {
    this.#source = source;
    if (this.#isPaused) source.pause();
  }

  add(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes < COUNTED_FROM_BYTES) return;
    const uncounted = this.#heldBytes - this.#countedBytes;
    this.#countedBytes = this.#heldBytes;
    this.#budget.take(this, uncounted);
  }

  goLast(): void {
    if (this.#countedBytes > 0) this.#budget.goLast(this);
  }

  /** Its bytes are nobody's any more, or the page's. */
  close(): void {
    if (this.#countedBytes > 0) this.#budget.giveBack(this, this.#countedBytes);
    this.#countedBytes = 0;
    this.#source = null;
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#source?.pause();
    else this.#source?.resume();
    this.#onPause(isPaused);
  }
}
