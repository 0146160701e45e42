/**
 * I4 and I8 for a dupefilter of many keys: it holds as many fingerprints as it says, none of its pieces is missing,
 * and none would vanish by itself.
 */
import type { Cluster, Redis } from 'ioredis';
import type { FrontierKeys } from '../open.js';
import { agreedDupefilter, type PieceIndex, readIndex } from './dupefilter-reading.js';
import { dupefilterPiece } from './keys.js';

type Client = Redis | Cluster;

const STEP = 500;

/** Pieces are read in steps, so what changed meanwhile is not judged. */
export async function checkDupefilter(client: Client, keys: FrontierKeys): Promise<string[]> {
  const index = await readIndex(client, keys);
  if (index === null) return [];
  const isBloom = (await agreedDupefilter(client, keys))?.class === 'BloomDupeFilter';
  const found = { entries: 0, missing: 0, expiring: 0 };
  for (let from = 0; from < index.pieces; from += STEP) {
    const names = Array.from({ length: Math.min(STEP, index.pieces - from) }, (_, n) =>
      dupefilterPiece(keys, index.generation, from + n),
    );
    const [sizes, expiries] = await Promise.all([
      Promise.all(names.map((name) => (isBloom ? client.strlen(name) : client.scard(name)))),
      Promise.all(names.map((name) => client.pttl(name))),
    ]);
    for (const [n, size] of sizes.entries()) {
      found.entries += size;
      if (isBloom && size === 0 && from + n < index.allocated) found.missing += 1;
    }
    found.expiring += expiries.filter((ms) => ms >= 0).length;
  }
  const after = await readIndex(client, keys);
  return isSame(index, after) ? breachesOf(index, found, isBloom) : [];
}

function isSame(before: PieceIndex, after: PieceIndex | null): boolean {
  return after !== null && after.generation === before.generation && after.seen === before.seen;
}

function breachesOf(
  { seen, pieces }: PieceIndex,
  found: { readonly entries: number; readonly missing: number; readonly expiring: number },
  isBloom: boolean,
): string[] {
  const breaches: string[] = [];
  if (!isBloom && found.entries !== seen) {
    breaches.push(`I4: the dupefilter says ${seen} fingerprints, but its buckets hold ${found.entries}`);
  }
  if (found.missing > 0) {
    breaches.push(`I4: ${found.missing} of ${pieces} chunks of the dupefilter are gone, and what they knew`);
  }
  if (found.expiring > 0) {
    breaches.push(`I8: ${found.expiring} of ${pieces} keys of the dupefilter have a time to live`);
  }
  return breaches;
}
