/** What the main loop waits for: `ring()` by anything that happened, or a time. */

/**
 * How many turns of the event loop pass between a ring and the wake-up. Rings in between need no wake-up of their own, so
 * pages that end together are settled, and their successors leased, in one call. An idle event loop turns within
 * microseconds; a busy one collects a few more finished pages in each turn. Measured on small pages, 16 at once: two turns
 * save a fifth of the CPU of redis-server and a few per cent of the node's; four turns save little more.
 */
const GATHER_TURNS = 2;

/** A ring while nobody waits is remembered for the next wait. */
export class Alarm {
  #rung = false;
  #wake: (() => void) | null = null;
  #timer: NodeJS.Timeout | null = null;

  ring(): void {
    const wake = this.#wake;
    if (wake === null) {
      this.#rung = true;
      return;
    }
    this.#wake = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#gather(wake);
  }

  /** Resolves soon after the next ring, or one that was missed, or after `ms`. One waiter at a time. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#rung) return this.#gather(resolve);
      this.#wake = resolve;
      this.#timer = setTimeout(() => this.ring(), ms);
    });
  }

  #gather(wake: () => void, turns = GATHER_TURNS): void {
    if (turns > 0) {
      setImmediate(() => this.#gather(wake, turns - 1));
      return;
    }
    // The loop examines everything when it wakes, so one wake-up serves all rings.
    this.#rung = false;
    wake();
  }
}
