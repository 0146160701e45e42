/**
 * The partition of a domain: a hash of its name modulo their number, the same on every machine and in every version. The
 * number of partitions never changes under a crawl, so rendezvous hashing, which moves few domains when it does, gains
 * nothing here.
 */
import { domainName } from '../redis/request-columns.js';

/** @param count how many partitions there are. @returns the index of one. */
export function partitionOf(domain: string, count: number): number {
  return hashOf(domainName(domain)) % count;
}

/** FNV-1a of 32 bits over the code units, then the finalizer of MurmurHash3, since the low bits of FNV-1a are weak. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Splits values by partition. @returns a list for each partition, in the order of the values. */
export function byPartition<T extends { readonly domain: string }>(
  values: readonly T[],
  count: number,
): T[][] {
  const lists: T[][] = Array.from({ length: count }, () => []);
  for (const value of values) lists[partitionOf(value.domain, count)]!.push(value);
  return lists;
}
