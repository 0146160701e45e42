/** Lists and counters that outlive the queue: items, external seeds, statistics. */
import { createHash } from 'node:crypto';
import { countersInBounds } from '../bounds.js';
import { HEAD_BYTES, keyOf, numberedKey, readUint53, Table } from './keys.js';
import type { Transaction } from './transaction.js';

/** Append texts to a list. */
export function append(tx: Transaction, space: Buffer, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const header = tx.changeHeader(space);
  for (const text of texts) {
    tx.put(numberedKey(Table.list, space, header.next), Buffer.from(text), 0);
    header.next += 1;
  }
  header.count += texts.length;
}

/** Append a value to a list that is searched by value. With `once` a value that is there already stays where it is. */
export function appendFindable(tx: Transaction, space: Buffer, value: Buffer, once: boolean): boolean {
  const prefix = keyOf(Table.place, space, valueHash(value));
  if (once && tx.first(prefix) !== undefined) return false;
  const header = tx.changeHeader(space);
  const key = numberedKey(Table.list, space, header.next);
  tx.put(key, value, 0);
  tx.put(Buffer.concat([prefix, key.subarray(HEAD_BYTES)]));
  header.next += 1;
  header.count += 1;
  return true;
}

/** Remove the first of this very value. @returns whether there was one. */
export function removeValue(tx: Transaction, space: Buffer, value: Buffer): boolean {
  const prefix = keyOf(Table.place, space, valueHash(value));
  const found = tx.first(prefix);
  if (found === undefined) return false;
  tx.delete(found);
  tx.delete(numberedKey(Table.list, space, readUint53(found, prefix.length)));
  tx.changeHeader(space).count -= 1;
  return true;
}

/** The first values of a list. */
export function peek(tx: Transaction, space: Buffer, max: number): Buffer[] {
  return tx.entries(keyOf(Table.list, space), max).map(({ value }) => value);
}

/** Remove the first values of a list. @returns them, in order. */
export function takeFirst(tx: Transaction, space: Buffer, max: number): Buffer[] {
  const entries = tx.entries(keyOf(Table.list, space), max);
  for (const { key, value } of entries) tx.delete(key, value.length);
  if (entries.length > 0) tx.changeHeader(space).count -= entries.length;
  return entries.map(({ value }) => value);
}

/** Add to counters by name. */
export function addCounters(tx: Transaction, counters: Readonly<Record<string, number>>): void {
  for (const [name, added] of countersInBounds(counters)) tx.addCounter(name, added);
}

/** All counters. */
export function readCounters(tx: Transaction): Record<string, number> {
  const counters: [string, number][] = [];
  for (const { key, value } of tx.scan(Table.stat, tx.spaces.stats)) {
    counters.push([key.toString('utf8', HEAD_BYTES), value.readDoubleLE(0)]);
  }
  // Not by assignment: `__proto__` is a name like any other.
  return Object.fromEntries(counters);
}

/** Twelve bytes stand for a value: the first eight would do. */
function valueHash(value: Buffer): Buffer {
  return createHash('sha1').update(value).digest().subarray(0, 12);
}
