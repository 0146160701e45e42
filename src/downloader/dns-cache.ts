/**
 * A cache of host names, as Scrapy's DNSCACHE_ENABLED. The system resolves them, so `/etc/hosts` and search domains count. It does
 * not say how long an answer is valid, so each is kept for a minute, as browsers do. Errors are not kept.
 *
 * It lies below the check of private addresses (`reachableLookup`), which sees every cached answer again.
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { LRUCache } from 'lru-cache';

const MAX_AGE_MS = 60_000;

type Callback = Parameters<LookupFunction>[2];
/** What a look-up has found: an address with its family, or a list of both. */
type Found = readonly [address: Parameters<Callback>[1], family: number | undefined];

/**
 * A look-up that answers from a cache. Concurrent look-ups of a name are one.
 * @param size names kept at most; beyond it, the one used least recently is dropped.
 * @param lookup in place of `dns.lookup`.
 */
export function cachedLookup(
  size: number,
  lookup: LookupFunction = systemLookup as LookupFunction,
): LookupFunction {
  let answers: LRUCache<string, Found> | null = null;
  let loading: Promise<LRUCache<string, Found>> | null = null;
  const waiting = new Map<string, Callback[]>();
  return (host, options, callback) => {
    const { family, hints, all } = options;
    const key = `${host.toLowerCase()} ${family} ${hints} ${all}`;
    const cached = answers?.get(key);
    if (cached !== undefined) return process.nextTick(answer, callback, cached);
    const others = waiting.get(key);
    if (others !== undefined) {
      others.push(callback);
      return;
    }
    waiting.set(key, [callback]);
    lookup(host, options, async (error, address, family) => {
      loading ??= emptyCache(size);
      answers = await loading;
      const callbacks = waiting.get(key) ?? [];
      waiting.delete(key);
      const found: Found = [address, family];
      if (!error) answers.set(key, found);
      for (const each of callbacks) {
        if (error) each(error, address, family);
        else answer(each, found);
      }
    });
  };
}

/** Loaded with the first name, as many crawls have only addresses, and a node starts sooner without it. */
async function emptyCache(size: number): Promise<LRUCache<string, Found>> {
  const { LRUCache } = await import('lru-cache');
  return new LRUCache<string, Found>({ max: size, ttl: MAX_AGE_MS });
}

/** A list is copied, so that no caller can change the cached one. */
function answer(callback: Callback, [found, family]: Found): void {
  callback(null, typeof found === 'string' ? found : [...found], family);
}
