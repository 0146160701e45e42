/**
 * Repair: clears the queues and counters of a crawl, and puts each request where its record says. The crawl is paused
 * meanwhile. That is one durable phase: a repair that broke off leaves the crawl paused, and is done again from the start.
 * Dupefilter, cookies, robots.txt, delays of domains, statistics and feeds stay as they are. Only counts that contradict what
 * is there are corrected, and what is missing is counted as lost.
 */
import type { Repaired } from '../frontier.js';
import { type CareStore, idText, type ReadRecord, type StoredRecord } from './care-store.js';

/** @throws RefusedError while nodes live, unless `force`. */
export async function repair<Stored extends StoredRecord>(
  store: CareStore<Stored>,
  read: ReadRecord,
  force: boolean,
): Promise<Repaired> {
  return putAll(store, read, await store.beginRepair(force));
}

/**
 * The same under live nodes, of a crawl that stands still. One that broke off is done again by another node.
 * @returns null where nothing was to be done any more.
 */
export async function rebuild<Stored extends StoredRecord>(
  store: CareStore<Stored>,
  read: ReadRecord,
): Promise<Repaired | null> {
  return (await store.beginRebuild()) ? putAll(store, read, []) : null;
}

async function putAll<Stored extends StoredRecord>(
  store: CareStore<Stored>,
  read: ReadRecord,
  losses: readonly string[],
): Promise<Repaired> {
  let unreadable = 0;
  for await (const batch of store.records()) {
    const requests = batch.map((stored) => ({ stored, request: read(idText(stored.id), stored.record) }));
    await store.put(requests);
    for (const { stored, request } of requests) if (request === null && stored.isWaiting) unreadable += 1;
  }
  const repaired = await store.endRepair();
  return { ...repaired, unreadable, losses: [...losses, ...repaired.losses] };
}
