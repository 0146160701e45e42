/**
 * Sweeping what was cleared, bit by bit: the fingerprints of a dupefilter, and of what is known of ids the marks that
 * hold no more and the numbers of requests that are gone. What is written meanwhile is right from the start, so one pass
 * is enough, and any client of the dupefilter goes on with it.
 */
import { HEAD_BYTES, keyOf, nothing, Table } from './keys.js';
import { claimKey, decodeKnown, encodeKnown, generationIn } from './known.js';
import { requestOf } from './live.js';
import type { Records } from './records.js';
import type { Tables } from './tables.js';
import type { Transaction } from './transaction.js';

/** Entries looked at by one step: a transaction of some 20 ms. */
const STEP = 10_000;

/**
 * Something was cleared of what lies in a space: sweeping begins there, or begins anew. How far it went stands with the
 * space, whoever sweeps; that there is something to do is said to the clients of the dupefilter as well, as the space may
 * be another crawl's.
 */
export function sweepLater(tables: Records, space: Buffer): void {
  tables.put(keyOf(Table.garbage, tables.spaces.dupefilter, space), nothing, 0);
  tables.put(progressKey(space), nothing, 0);
}

/** Whether there is something left to sweep in a space. */
export function isBeingSwept(tables: Tables, space: Buffer): boolean {
  return tables.has(progressKey(space));
}

/** Sweep some of what was cleared. @returns whether that was all. */
export function sweepSome(tx: Transaction): boolean {
  const { crawl, dupefilter } = tx.spaces;
  const [garbage] = [dupefilter, crawl].flatMap((of) => tx.keys(keyOf(Table.garbage, of), 1));
  if (garbage === undefined) return true;
  // What verbs of the same transaction recorded counts as well.
  tx.dupefilter.writeLedger();
  tx.writeKnown();
  const space = Buffer.from(garbage.subarray(HEAD_BYTES));
  let left = STEP;
  for (const table of [Table.seen, Table.expiry]) left -= tx.wipeSome(table, space, left);
  if (left === 0) return false;
  const after = tx.get(progressKey(space));
  const swept = after === undefined ? null : sweepKnown(tx, space, after, left);
  if (swept !== null) tx.put(progressKey(space), swept, 0);
  else for (const key of [garbage, progressKey(space)]) tx.delete(key, 0);
  return false;
}

/** Look at up to `max` entries behind an id. @returns the id to go on behind; null at the end. */
function sweepKnown(tables: Tables, space: Buffer, after: Buffer, max: number): Buffer | null {
  const prefix = keyOf(Table.known, space);
  const generation = generationIn(tables, space);
  const entries = tables.entries(prefix, max, Buffer.concat([prefix, after, Buffer.alloc(1)]));
  for (const { key, value } of entries) {
    const known = decodeKnown(value);
    if (known.generation !== 0 && known.generation === generation) continue;
    if (requestOf(tables, space, known.number, key.toString('hex', HEAD_BYTES)) === null) {
      tables.delete(key, value.length);
    } else if (known.generation !== 0) {
      tables.put(key, encodeKnown({ ...known, generation: 0 }), value.length);
    }
  }
  const last = entries.length < max ? undefined : entries.at(-1);
  if (last !== undefined) return Buffer.from(last.key.subarray(HEAD_BYTES));
  // The last generation is remembered while a mark of it may be left, to be swept for another client's sake.
  if (generation === 0 && tables.keys(prefix, 2).length < 2) tables.delete(claimKey(space), 0);
  return null;
}

function progressKey(space: Buffer): Buffer {
  return keyOf(Table.garbage, space, space);
}
