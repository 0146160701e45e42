/** What the loop waits on: a bell that anyone may ring, or time passing. */

/** A ring while nobody waits is remembered, so nothing that happens during a round trip is missed. */
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
    wake();
  }

  /** Resolves at the next ring, at once when one was missed, or after `ms`. One waiter at a time. */
  wait(ms: number): Promise<void> {
    if (this.#rung) {
      this.#rung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#timer = setTimeout(() => this.ring(), ms);
    });
  }
}
