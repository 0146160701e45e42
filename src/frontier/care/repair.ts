/**
 * Repair: clears the queues and counters of a crawl, and puts each request where its record says. The crawl is paused
 * meanwhile. That is one durable phase: a repair that broke off leaves the crawl paused, and is done again from the start.
 * Dupefilter, cookies, robots.txt, delays of domains, statistics and feeds stay as they are. Only where their own check finds
 * that they contradict themselves, their counts are corrected.
 */
import type { RecordedRequest, Repaired } from '../frontier.js';
import { type CareStore, idText, type StoredRecord } from './care-store.js';

type Read = (id: string, record: string) => RecordedRequest | null;

/** @param read the fields of a record; null where it cannot be read. @throws RefusedError while nodes live, unless `force`. */
export async function repair<Stored extends StoredRecord>(
  store: CareStore<Stored>,
  read: Read,
  force: boolean,
): Promise<Repaired> {
  await store.beginRepair(force);
  await putAll(store, read);
  for (const side of store.sides) if ((await side.check()).length > 0) await side.mend();
  return store.endRepair();
}

/**
 * The same under live nodes, of a crawl that stands still: only what a lease needs. One that broke off is done again by another
 * node. @returns null where nothing was to be done any more.
 */
export async function rebuild<Stored extends StoredRecord>(
  store: CareStore<Stored>,
  read: Read,
): Promise<Repaired | null> {
  if (!(await store.beginRebuild())) return null;
  await putAll(store, read);
  return store.endRepair();
}

async function putAll<Stored extends StoredRecord>(store: CareStore<Stored>, read: Read): Promise<void> {
  for await (const batch of store.records()) {
    await store.put(batch.map((stored) => ({ stored, request: read(idText(stored.id), stored.record) })));
  }
}
