/** The dead nodes that one call of `recover` handled, over all its steps. */
export class RecoveredNodes {
  readonly #byIncarnation = new Map<string | number, { node: string; requests: number }>();

  /** Add the requests that one step returned to the queue. @param node the label of the node, for messages. */
  add(incarnation: string | number, node: string, requests: number): void {
    const entry = this.#byIncarnation.get(incarnation);
    if (entry === undefined) this.#byIncarnation.set(incarnation, { node, requests });
    else entry.requests += requests;
  }

  /** Report each node once. @returns the number of requests of all nodes. */
  report(onDead?: (node: string, requests: number) => void): number {
    let total = 0;
    for (const { node, requests } of this.#byIncarnation.values()) {
      total += requests;
      onDead?.(node, requests);
    }
    return total;
  }
}
