/** The dead nodes that one call of `recover` has handled, over all its steps. */
export class RecoveredNodes {
  readonly #byIncarnation = new Map<string | number, { node: string; requests: number }>();

  /** Add what one step has returned to the queue. @param node its label, for messages. */
  add(incarnation: string | number, node: string, requests: number): void {
    const known = this.#byIncarnation.get(incarnation);
    if (known === undefined) this.#byIncarnation.set(incarnation, { node, requests });
    else known.requests += requests;
  }

  /** Report each node once. @returns the number of requests of all of them. */
  report(onDead?: (node: string, requests: number) => void): number {
    let total = 0;
    for (const { node, requests } of this.#byIncarnation.values()) {
      total += requests;
      onDead?.(node, requests);
    }
    return total;
  }
}
