/**
 * Bounds the bytes that all unfinished downloads of a node hold (DOWNLOAD_BUFFER_LIMIT). Over the limit only the oldest
 * body is read; the others pause until enough bytes are released. So the downloads finish one after the other, and memory
 * is bounded even if many bodies never end.
 */

/** Smaller bodies are not counted and never pause. Most pages are smaller, and together they use little memory. */
const COUNTED_FROM_BYTES = 256 * 1024;

/** A source of body bytes that the budget may pause: a connection or a decompression stream. */
export interface Pausable {
  pause(): unknown;
  resume(): unknown;
}

/** The budget of a node. */
export class BodyBudget {
  readonly #limitBytes: number;
  /** The counted bodies. The first one is never paused. */
  readonly #shares = new Set<BodyShare>();
  #heldBytes = 0;

  /** @param limitBytes 0 for no limit. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Add `bytes` of a share, and pause shares if the limit is exceeded. */
  take(share: BodyShare, bytes: number): void {
    if (this.#limitBytes === 0) return;
    this.#shares.add(share);
    this.#heldBytes += bytes;
    this.#arrange();
  }

  /** Release all bytes of a share. */
  giveBack(share: BodyShare, bytes: number): void {
    if (!this.#shares.delete(share)) return;
    this.#heldBytes -= bytes;
    this.#arrange();
  }

  /** Move a share whose server sends nothing behind the others, so that it does not block them. */
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

/** The bytes that one body holds of the budget. */
export class BodyShare {
  readonly #budget: BodyBudget;
  readonly #onPause: (isPaused: boolean) => void;
  #source: Pausable | null = null;
  #heldBytes = 0;
  #countedBytes = 0;
  #isPaused = false;

  /** @param onPause is called when the share is paused and when it is resumed. */
  constructor(budget: BodyBudget, onPause: (isPaused: boolean) => void) {
    this.#budget = budget;
    this.#onPause = onPause;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Set the source of further bytes. */
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

  /** Release its bytes: the body was discarded, or handed over to the page. */
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
