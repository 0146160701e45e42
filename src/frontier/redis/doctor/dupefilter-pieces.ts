/**
 * I4 and I8 for a dupefilter of many keys: its count is right, no piece is missing, and no piece has a time to live.
 */
import type { FrontierKeys } from '../../open-options.js';
import type { Client } from '../connection/client.js';
import { dupefilterKey, dupefilterPiece } from '../keys.js';
import { agreedDupefilter, type PieceIndex, readIndex } from '../read/dupefilter.js';

const STEP = 500;

/** Pieces are read in steps. When the index changed meanwhile, no breach is reported. */
export async function checkPieces(client: Client, keys: FrontierKeys): Promise<string[]> {
  const index = await readIndex(client, keys);
  if (index === null) return [];
  const isBloom = await isBloomFilter(client, keys);
  const found = await lookAtPieces(client, keys, index, isBloom);
  return isSame(index, await readIndex(client, keys)) ? breachesOf(index, found, isBloom) : [];
}

/** Corrects the count and removes times to live. The fingerprints of a deleted piece are lost: their links are new again. */
export async function repairPieces(client: Client, keys: FrontierKeys): Promise<void> {
  const index = await readIndex(client, keys);
  if (index === null) return;
  const isBloom = await isBloomFilter(client, keys);
  const { entries, missing, expiring } = await lookAtPieces(client, keys, index, isBloom);
  await Promise.all(expiring.map((name) => client.persist(name)));
  const [firstMissing] = missing;
  if (!isBloom) await client.hset(dupefilterKey(keys, 'index'), 'seen', entries);
  else if (firstMissing !== undefined)
    await client.hset(dupefilterKey(keys, 'index'), 'allocated', firstMissing);
}

async function isBloomFilter(client: Client, keys: FrontierKeys): Promise<boolean> {
  return (await agreedDupefilter(client, keys))?.class === 'BloomDupeFilter';
}

interface Found {
  /** Fingerprints in buckets, or bytes in chunks. */
  readonly entries: number;
  /** Numbers of the chunks that were allocated and are not there. */
  readonly missing: readonly number[];
  readonly expiring: readonly string[];
}

async function lookAtPieces(
  client: Client,
  keys: FrontierKeys,
  index: PieceIndex,
  isBloom: boolean,
): Promise<Found> {
  const [missing, expiring]: [number[], string[]] = [[], []];
  let entries = 0;
  for (let from = 0; from < index.pieces; from += STEP) {
    const names = Array.from({ length: Math.min(STEP, index.pieces - from) }, (_, n) =>
      dupefilterPiece(keys, index.generation, from + n),
    );
    const [sizes, expiries] = await Promise.all([
      Promise.all(names.map((name) => (isBloom ? client.strlen(name) : client.scard(name)))),
      Promise.all(names.map((name) => client.pttl(name))),
    ]);
    for (const [n, size] of sizes.entries()) {
      entries += size;
      if (isBloom && size === 0 && from + n < index.allocated) missing.push(from + n);
    }
    expiring.push(...names.filter((_, n) => (expiries[n] ?? -1) >= 0));
  }
  return { entries, missing, expiring };
}

function isSame(before: PieceIndex, after: PieceIndex | null): boolean {
  return after !== null && after.generation === before.generation && after.seen === before.seen;
}

function breachesOf({ seen, pieces }: PieceIndex, found: Found, isBloom: boolean): string[] {
  const breaches: string[] = [];
  if (!isBloom && found.entries !== seen) {
    breaches.push(`I4: the dupefilter says ${seen} fingerprints, but its buckets hold ${found.entries}`);
  }
  if (found.missing.length > 0) {
    breaches.push(
      `I4: ${found.missing.length} of ${pieces} chunks of the dupefilter are gone, and what they knew`,
    );
  }
  if (found.expiring.length > 0) {
    breaches.push(`I8: ${found.expiring.length} of ${pieces} keys of the dupefilter have a time to live`);
  }
  return breaches;
}
