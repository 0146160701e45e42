/** The keys of one crawl in Redis: the public ones by their templates, every internal one by a fixed word. */
import type { FrontierKeys } from '../open-options.js';

/** The type of each internal key, `<requests>:~<word>`, in the order of KEYS; `lua/base/keys.lua` describes each. */
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
} as const;

export const internalWords = Object.keys(internalTypes) as (keyof typeof internalTypes)[];

export type InternalWord = keyof typeof internalTypes | 'absent';

/** Name of an internal key. Never built from anything a user typed but the requests key itself. */
export function internalKey(keys: FrontierKeys, word: InternalWord): string {
  return `${keys.requests}:~${word}`;
}

/** Words of a dupefilter's keys, `<dupefilter>:~<word>`, beside its own: see `lua/dupefilters/pieces.lua`. */
export const dupefilterWords = ['index', 'garbage', 'probe'] as const;

/** The type of each key that only crawlnode writes, by its name. */
export function ownKeys(keys: FrontierKeys): Map<string, string> {
  return new Map<string, string>([
    ...Object.entries(internalTypes).map(
      ([word, type]) => [internalKey(keys, word as InternalWord), type] as const,
    ),
    ...(['index', 'garbage'] as const).map((word) => [dupefilterKey(keys, word), 'hash'] as const),
  ]);
}

/** The types of KEYS, in their order; null where that depends on the settings, or any will do. */
export const keyTypes: readonly (string | null)[] = [
  ...['hash', null, 'list', 'hash'],
  ...Object.values(internalTypes),
  ...['hash', 'hash'],
];

export function dupefilterKey(keys: FrontierKeys, word: (typeof dupefilterWords)[number]): string {
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

/** KEYS of every verb: all keys of the crawl, in the one order that `lua/base/keys.lua` names. */
export function allKeys(keys: FrontierKeys): string[] {
  return [
    ...[keys.requests, keys.dupefilter, keys.items, keys.stats],
    ...internalWords.map((word) => internalKey(keys, word)),
    ...dupefilterWords.map((word) => dupefilterKey(keys, word)),
    internalKey(keys, 'absent'),
    ...keys.startUrls.flatMap((key) => [key, badSeedsKey(key)]),
  ];
}
