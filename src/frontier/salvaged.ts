/** What was saved of a damaged store. */
export interface Salvaged {
  /** Rows of each table that are in the new store. */
  readonly saved: Readonly<Record<string, number>>;
  /** Pages, and rows of other pages, that could not be read. */
  readonly unreadable: { readonly pages: number; readonly rows: number };
  /** A sentence for each thing that is known to be lost, by the counters that could be read. */
  readonly lost: readonly string[];
  /** Names of all crawls of the store, by their requests keys: each waits for its repair. */
  readonly crawls: readonly string[];
  /** Where the damaged file is kept. */
  readonly damagedFile: string;
}
