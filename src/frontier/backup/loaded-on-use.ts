/** Backups whose code is loaded on first use: a crawl needs none of it. */
import type { Backups } from './entry.js';

/** @param load gives the backups of an engine */
export function loadedOnUse(load: () => Promise<Backups>): Backups {
  let loading: Promise<Backups> | undefined;
  const backups = () => {
    loading ??= load();
    return loading;
  };
  return {
    async *read(parts) {
      yield* (await backups()).read(parts);
    },
    begin: async (ticket) => (await backups()).begin(ticket),
    apply: async (id, number, entry) => (await backups()).apply(id, number, entry),
    end: async (id) => (await backups()).end(id),
  };
}
