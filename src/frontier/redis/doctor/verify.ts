/**
 * The invariants I1–I8 (DESIGN §5), checked on one consistent view: a MULTI reads everything at one instant. It
 * reads the whole frontier, so it is for tests and `doctor --deep`, not for a dashboard.
 */
import type { FrontierKeys } from '../../open-options.js';
import { type Client, repliesOf } from '../connection/client.js';
import { allKeys, internalKey } from '../keys.js';
import { readEntry } from '../read/records.js';
import { checkPieces } from './dupefilter-pieces.js';
import { checkCookies } from './verify-cookies.js';
import { checkDomains } from './verify-domains.js';
import { readView, type View } from './view.js';

/** @returns one sentence for each breach. */
export async function verifyInvariants(client: Client, keys: FrontierKeys): Promise<string[]> {
  const view = await readView(client, keys);
  return [
    ...view.unreadable,
    ...checkPlaces(view),
    ...checkLeases(view),
    ...checkAccepted(view),
    ...checkDomains(view),
    ...(await checkExpiry(client, keys)),
    ...(await checkRobots(client, keys)),
    ...(view.meta.repairing ? ['a repair broke off: repair again'] : []),
    ...(await checkPieces(client, keys)),
    ...(await checkCookies(client, keys)),
  ];
}

/** I1: each record is in exactly one state, and no state without a record (except failed ones past FAILED_LIMIT). */
function checkPlaces(view: View): string[] {
  const breaches: string[] = [];
  const places = new Map<string, string[]>();
  const put = (id: Buffer, state: string): void => {
    const hex = id.toString('hex');
    places.set(hex, [...(places.get(hex) ?? []), state]);
  };
  for (const { id } of view.queue) put(id, 'pending');
  for (const entry of view.suspects) put(readEntry(entry).id, 'pending');
  for (const entry of view.delayed) put(readEntry(entry).id, 'delayed');
  for (const id of view.leasedIds) put(id, 'leased');
  for (const id of view.failed) put(id, 'failed');
  for (const [id, found] of places) {
    if (found.length > 1)
      breaches.push(`I1: request ${id} is in ${found.length} places: ${found.join(', ')}`);
    if (!view.records.has(id) && found[0] !== 'failed')
      breaches.push(`I1: ${found[0]} request ${id} has no record`);
  }
  for (const id of view.records) {
    if (!places.has(id)) breaches.push(`I1: the record of ${id} is in no queue: it would never be fetched`);
  }
  return breaches;
}

/** I3: every lease belongs to a registered incarnation, and each incarnation's count is right. */
function checkLeases({ leases, registered, held }: View): string[] {
  const breaches: string[] = [];
  const counted = new Map<string, number>();
  for (const [id, { node }] of leases) {
    counted.set(node, (counted.get(node) ?? 0) + 1);
    if (!registered.has(node)) {
      breaches.push(`I3: request ${id} is leased to ${node}, which is not registered`);
    }
  }
  for (const node of new Set([...counted.keys(), ...Object.keys(held)])) {
    const [stored, real] = [Number(held[node] ?? 0), counted.get(node) ?? 0];
    if (stored !== real) breaches.push(`I3: ${node} is said to hold ${stored} leases and holds ${real}`);
  }
  return breaches;
}

/** I4: accepted = pending + delayed + leased + done + failed + removed + lost. */
function checkAccepted({ queue, suspects, delayed, leasedIds, failed, meta }: View): string[] {
  const [accepted, done, removed, lost] = [meta.accepted, meta.done, meta.removed, meta.lost].map((text) =>
    Number(text ?? 0),
  );
  const parts = {
    pending: queue.length + suspects.length,
    delayed: delayed.length,
    leased: leasedIds.length,
    done: done as number,
    failed: failed.length,
    removed: removed as number,
    lost: lost as number,
  };
  const sum = Object.values(parts).reduce((total, count) => total + count, 0);
  if (accepted === sum) return [];
  const spoken = Object.entries(parts).map(([name, count]) => `${count} ${name}`);
  return [`I4: ${accepted} accepted, but ${spoken.join(' + ')} = ${sum}`];
}

/** Each known robots.txt has an instant from which on it is deleted. */
async function checkRobots(client: Client, keys: FrontierKeys): Promise<string[]> {
  const transaction = client
    .multi()
    .hkeys(internalKey(keys, 'robots'))
    .zrange(internalKey(keys, 'robots-kept'), 0, -1);
  const [known, kept] = (await repliesOf(transaction)) as string[][];
  const isKept = new Set(kept);
  const lost = known!.filter((origin) => !isKept.has(origin)).length;
  return lost === 0 && known!.length === isKept.size
    ? []
    : ['the robots.txt of some origins is never deleted'];
}

/** I8: no key of the frontier has a time to live. */
async function checkExpiry(client: Client, keys: FrontierKeys): Promise<string[]> {
  const breaches: string[] = [];
  for (const name of allKeys(keys)) {
    if ((await client.pttl(name)) >= 0)
      breaches.push(`I8: ${name} has a time to live: it would vanish by itself`);
  }
  return breaches;
}
