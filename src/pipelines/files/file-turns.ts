/** Requests of one node for the same file go one after the other, so that the second finds it in the store. */

export class FileTurns {
  readonly #last = new Map<string, Promise<void>>();

  /** Run once no other work for this key is left. */
  async after<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    let end!: () => void;
    const own = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last.set(key, own);
    try {
      await before;
      return await work();
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key);
      end();
    }
  }
}
