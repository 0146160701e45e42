/** External seeds: read without removing, then removed and accepted in one step, or set aside as bad. */
import { badSeedEntry } from '../bad-seed.js';
import type { ConvertedSeed, FrontierRequest, IntakeAnswer, PushKind, RawSeed } from '../frontier.js';
import { accept } from './accept.js';
import { append, appendFindable, peek, removeValue } from './lists.js';
import type { Transaction } from './transaction.js';

/** Up to `max` seeds, key after key, in the order they stand. */
export function peekSeeds(tx: Transaction, max: number): RawSeed[] {
  const seeds: RawSeed[] = [];
  for (const { name, good } of tx.spaces.startUrls) {
    if (seeds.length >= max) break;
    seeds.push(...peek(tx, good, max - seeds.length).map((value) => ({ key: name, value })));
  }
  return seeds;
}

/** Remove each seed and accept its requests, or set it aside, only if it was still there. */
export function intake(tx: Transaction, batch: readonly ConvertedSeed[], kind: PushKind): IntakeAnswer {
  const requests: FrontierRequest[] = [];
  let bad = 0;
  for (const converted of batch) {
    const { key, value } = converted.seed;
    const spaces = tx.spaces.startUrls.find(({ name }) => name === key);
    if (spaces === undefined || !removeValue(tx, spaces.good, value)) continue;
    if ('bad' in converted) {
      bad += 1;
      append(tx, spaces.bad, [badSeedEntry(value, converted.bad, tx.nowMs)]);
    } else {
      requests.push(...converted.requests);
    }
  }
  const { accepted, duplicates } = accept(tx, requests, kind);
  return { accepted, duplicates, bad };
}

/** What was set aside: up to `max` after the first `from`. */
export function badSeeds(tx: Transaction, from: number, max: number): string[] {
  const entries: string[] = [];
  let skip = from;
  for (const { bad } of tx.spaces.startUrls) {
    const values = peek(tx, bad, skip + max - entries.length);
    entries.push(...values.slice(skip).map(String));
    skip = Math.max(0, skip - values.length);
  }
  return entries;
}

/** Append raw seeds to the first key. A set or a sorted set holds each value once. */
export function appendSeeds(tx: Transaction, values: readonly string[], isSet: boolean): number {
  const [first] = tx.spaces.startUrls;
  if (first === undefined || values.length === 0) return 0;
  tx.list();
  for (const value of values) appendFindable(tx, first.good, Buffer.from(value), isSet);
  return values.length;
}
