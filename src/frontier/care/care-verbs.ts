/** The verbs of care, whose code is loaded on first use: a crawl needs none of it. */
import type { Frontier } from '../frontier.js';
import type { CareStore, StoredRecord } from './care-store.js';

/** @param open gives what an engine offers */
export function careVerbs<Stored extends StoredRecord>(
  open: () => Promise<CareStore<Stored>>,
): Pick<Frontier, 'repair' | 'rebuild' | 'verify' | 'verifyCounts'> {
  return {
    repair: async (read, { force }) => (await import('./repair.js')).repair(await open(), read, force),
    rebuild: async (read) => (await import('./repair.js')).rebuild(await open(), read),
    verifyCounts: async () => (await import('./verify.js')).verifyCounts(await open()),
    verify: async (read) => (await import('./verify.js')).verify(await open(), read),
  };
}
