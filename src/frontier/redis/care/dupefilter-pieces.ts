/**
 * I4 and I8 for a dupefilter of many keys: its count is right, no piece is missing, and no piece has a time to live.
 */
import { classOf } from '../../dupefilter-classes.js';
import type { FrontierKeys } from '../../open-options.js';
import type { Client } from '../connection/client.js';
import { dupefilterKey, dupefilterPiece } from '../keys.js';
import { agreedDupefilter, type PieceIndex, readIndex } from '../read/dupefilter.js';

const STEP = 500;

/** Pieces are read in steps. When the index changed meanwhile, no breach is reported. */
export async function checkPieces(client: Client, keys: FrontierKeys): Promise<string[]> {
  const found = await lookAtPieces(client, keys);
  const after = await readIndex(client, keys);
  if (found === null || after?.generation !== found.generation || after.seen !== found.seen) return [];
  const { isBloom, seen, entries, pieces, missing, expiring } = found;
  const breaches = [
    !isBloom &&
      entries !== seen &&
      `I4: the dupefilter says ${seen} fingerprints, but its buckets hold ${entries}`,
    missing.length > 0 &&
      `I4: ${missing.length} of ${pieces} chunks of the dupefilter are gone, and what they knew`,
    expiring.length > 0 && `I8: ${expiring.length} of ${pieces} keys of the dupefilter have a time to live`,
  ];
  return breaches.filter((breach) => breach !== false);
}

/** Corrects the count and removes times to live. The fingerprints of a deleted piece are lost: their links are new again. */
export async function repairPieces(client: Client, keys: FrontierKeys): Promise<void> {
  const found = await lookAtPieces(client, keys);
  if (found === null) return;
  const [firstMissing] = found.missing;
  await Promise.all(found.expiring.map((name) => client.persist(name)));
  if (!found.isBloom) await client.hset(dupefilterKey(keys, 'index'), 'seen', found.entries);
  else if (firstMissing !== undefined)
    await client.hset(dupefilterKey(keys, 'index'), 'allocated', firstMissing);
}

interface Found extends PieceIndex {
  readonly isBloom: boolean;
  /** Fingerprints in buckets, or bytes in chunks. */
  readonly entries: number;
  /** Numbers of the chunks that were allocated and are not there. */
  readonly missing: readonly number[];
  readonly expiring: readonly string[];
}

/** Null for a dupefilter of one key, or none. */
async function lookAtPieces(client: Client, keys: FrontierKeys): Promise<Found | null> {
  const index = await readIndex(client, keys);
  if (index === null) return null;
  const agreed = await agreedDupefilter(client, keys);
  const isBloom = agreed !== null && classOf(agreed).redisLayout === 'pieces: bits';
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
  return { ...index, isBloom, entries, missing, expiring };
}
