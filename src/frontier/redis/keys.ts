/** The keys of one crawl in Redis: the public ones by their templates, every internal one by a fixed word. */
import type { FrontierKeys } from '../open-options.js';

/** Words of the internal keys, `<requests>:~<word>`, in the order of KEYS; `lua/base/keys.lua` describes each. */
export const internalWords = [
  'meta',
  'queue',
  'suspects',
  'delayed',
  'leases',
  'failed',
  'failures',
  'crashes',
  'domains',
  'ready',
  'waiting',
  'nodes',
  'dead',
  'node-info',
  'held',
  'settled',
  'answers',
  'feeds',
  'outbox',
  'robots',
  'robots-kept',
  'cookies',
  'cookie-versions',
  'jars',
  'validators',
  'domain-accepted',
  'early',
] as const;

export type InternalWord = (typeof internalWords)[number] | 'absent';

/** Name of an internal key. Never built from anything a user typed but the requests key itself. */
export function internalKey(keys: FrontierKeys, word: InternalWord): string {
  return `${keys.requests}:~${word}`;
}

/** Words of a dupefilter's keys, `<dupefilter>:~<word>`, beside its own: see `lua/dupefilters/pieces.lua`. */
export const dupefilterWords = ['index', 'garbage', 'probe'] as const;

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
