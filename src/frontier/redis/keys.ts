/** The keys of one crawl in Redis: the public ones by their templates, every internal one by a fixed word. */
import type { FrontierKeys } from '../open-options.js';

/** The public keys, by their templates. The type of the dupefilter's own key depends on its class. */
const publicTypes = { requests: 'hash', dupefilter: null, items: 'list', stats: 'hash' } as const;

/** The type of each internal key, `<requests>:~<word>`. */
const internalTypes = {
  meta: 'hash',
  queue: 'zset',
  suspects: 'zset',
  delayed: 'zset',
  leases: 'hash',
  failed: 'zset',
  failures: 'hash',
  crashes: 'hash',
  domains: 'hash',
  ready: 'zset',
  waiting: 'zset',
  nodes: 'zset',
  dead: 'zset',
  'node-info': 'hash',
  held: 'hash',
  settled: 'hash',
  answers: 'hash',
  feeds: 'hash',
  outbox: 'hash',
  robots: 'hash',
  'robots-kept': 'zset',
  cookies: 'hash',
  'cookie-versions': 'zset',
  jars: 'zset',
  validators: 'hash',
  'domain-accepted': 'hash',
  early: 'set',
  ignored: 'list',
  telemetry: 'hash',
  'domain-stats': 'hash',
  'domain-recent': 'zset',
} as const;

/** Keys of a dupefilter, `<dupefilter>:~<word>`, beside its own: see `lua/dupefilters/pieces.lua`. */
const dupefilterTypes = { index: 'hash', garbage: 'hash' } as const;

/** The keys of a crawl in the order of KEYS, and the type of each where it is always the same; `lua/base/keys.lua` describes each. */
export const keyTypes: Readonly<Record<string, string | null>> = {
  ...{ ...publicTypes, ...internalTypes, ...dupefilterTypes },
  absent: null,
};

/**
 * The most fields that crawlnode writes to a HASH that verbs walk: two for each of ten thousand files, one for each node. With far
 * more, something else wrote to it.
 */
export const MAX_FIELDS: Readonly<Record<string, number>> = { feeds: 20_000, 'node-info': 20_000 };

export const internalWords = Object.keys(internalTypes) as (keyof typeof internalTypes)[];
export const dupefilterWords = Object.keys(dupefilterTypes) as (keyof typeof dupefilterTypes)[];

export type InternalWord = keyof typeof internalTypes | 'absent';

/** Name of an internal key. Never built from anything a user typed but the requests key itself. */
export function internalKey(keys: FrontierKeys, word: InternalWord): string {
  return `${keys.requests}:~${word}`;
}

/** The type of each key that only crawlnode writes, by its name. */
export function ownKeys(keys: FrontierKeys): [name: string, type: string][] {
  return [
    ...internalWords.map((word): [string, string] => [internalKey(keys, word), internalTypes[word]]),
    ...dupefilterWords.map((word): [string, string] => [dupefilterKey(keys, word), dupefilterTypes[word]]),
  ];
}

export function dupefilterKey(keys: FrontierKeys, word: keyof typeof dupefilterTypes): string {
  return `${keys.dupefilter}:~${word}`;
}

/** One of the pieces of a dupefilter that is made of many keys. */
export function dupefilterPiece(keys: FrontierKeys, generation: string, number: number): string {
  return `${keys.dupefilter}:~piece:${generation}:${number}`;
}

/** Where the bad seeds of a start_urls key are set aside. */
export function badSeedsKey(startUrls: string): string {
  return `${startUrls}:bad`;
}

/** KEYS of every verb: all keys of the crawl, in the order of `keyTypes`. */
export function allKeys(keys: FrontierKeys): string[] {
  return [
    ...[keys.requests, keys.dupefilter, keys.items, keys.stats],
    ...internalWords.map((word) => internalKey(keys, word)),
    ...dupefilterWords.map((word) => dupefilterKey(keys, word)),
    internalKey(keys, 'absent'),
    ...keys.startUrls.flatMap((key) => [key, badSeedsKey(key)]),
  ];
}
