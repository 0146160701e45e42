/** External seeds: read without removing, then removed and accepted in one step, or set aside as bad. */
import { createHash } from 'node:crypto';
import { badSeedEntry } from '../../bad-seed-entry.js';
import type { ConvertedSeed, FrontierRequest, IntakeAnswer, PushKind, RawSeed } from '../../frontier.js';
import type { Space } from '../base/keyspaces.js';
import type { Transaction } from '../base/transaction.js';
import { bufferOf } from '../dupefilters/dupefilter.js';
import { accept } from '../requests/acceptance.js';

/** Up to `max` seeds, key after key, in the order they stand. */
export function peekSeeds({ sql, spaces }: Transaction, max: number): RawSeed[] {
  const seeds: RawSeed[] = [];
  for (const { good } of spaces.startUrls) {
    if (seeds.length >= max) break;
    const rows = sql.all<{ value: Uint8Array }>`
      SELECT value FROM seed WHERE space = ${good.id} ORDER BY n LIMIT ${max - seeds.length}`;
    seeds.push(...rows.map(({ value }) => ({ key: good.name, value: bufferOf(value) })));
  }
  return seeds;
}

/** Remove each seed and accept its requests, or set it aside, only if it was still there. */
export function intake(tx: Transaction, batch: readonly ConvertedSeed[], kind: PushKind): IntakeAnswer {
  const requests: FrontierRequest[] = [];
  let bad = 0;
  for (const converted of batch) {
    const { key, value } = converted.seed;
    const startUrls = tx.spaces.startUrls.find(({ good }) => good.name === key);
    if (startUrls === undefined || !removeSeed(tx, startUrls.good, value)) continue;
    if ('bad' in converted) {
      bad += 1;
      addBadSeed(tx, startUrls.bad, badSeedEntry(value, converted.bad, tx.nowMs));
    } else requests.push(...converted.requests);
  }
  const { accepted, duplicates } = accept(tx, requests, kind);
  return { accepted, duplicates, bad };
}

/** What was set aside: up to `max` after the first `from`. */
export function badSeeds({ sql, spaces }: Transaction, from: number, max: number): string[] {
  const entries: string[] = [];
  let skip = from;
  for (const { bad } of spaces.startUrls) {
    const rows = sql.all<{ entry: string }>`
      SELECT entry FROM bad_seed WHERE space = ${bad.id} ORDER BY n LIMIT ${max - entries.length} OFFSET ${skip}`;
    entries.push(...rows.map(({ entry }) => entry));
    skip = Math.max(0, skip - bad.entries);
  }
  return entries;
}

/** Append raw seeds to the first key. A set or a sorted set holds each value once. */
export function appendSeeds(tx: Transaction, values: readonly string[], isSet: boolean): number {
  const [first] = tx.spaces.startUrls;
  if (first === undefined || values.length === 0) return 0;
  tx.spaces.list();
  for (const value of values) addSeed(tx, first.good, Buffer.from(value), isSet);
  return values.length;
}

/** Append a seed to a key; with `once` one that is there already stays where it is. */
export function addSeed({ sql }: Transaction, key: Space, value: Buffer, once: boolean): void {
  const space = key.need();
  const digest = digestOf(value);
  if (once && sql.get`SELECT 1 FROM seed WHERE space = ${space} AND digest = ${digest}` !== undefined) return;
  sql.run`INSERT INTO seed (space, value, digest) VALUES (${space}, ${value}, ${digest})`;
  key.entries += 1;
}

/** Set a seed aside. */
export function addBadSeed({ sql }: Transaction, key: Space, entry: string): void {
  sql.run`INSERT INTO bad_seed (space, entry) VALUES (${key.need()}, ${entry})`;
  key.entries += 1;
}

/** Remove the first seed of this very value. @returns whether there was one. */
function removeSeed({ sql }: Transaction, key: Space, value: Buffer): boolean {
  const removed = sql.run`
    DELETE FROM seed WHERE n = (
      SELECT n FROM seed WHERE space = ${key.id} AND digest = ${digestOf(value)} ORDER BY n LIMIT 1)`;
  key.entries -= removed;
  return removed > 0;
}

/** Twelve bytes stand for a value: the first eight would do. */
const digestOf = (value: Buffer): Buffer => createHash('sha1').update(value).digest().subarray(0, 12);
