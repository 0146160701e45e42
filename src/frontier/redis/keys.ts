/** The keys of one crawl in Redis: the public ones by their templates, every internal one by a fixed word. */
import type { FrontierKeys } from '../open.js';

/** Words of the internal keys, `<requests>:~<word>`; what each holds stands in `lua/parts/base.lua`. */
export const internalWords = [
  'meta',
  'queue',
  'chunks',
  'domains',
  'ready',
  'waiting',
  'delayed',
  'suspects',
  'leases',
  'nodes',
  'dead',
  'node-info',
  'held',
  'pages',
  'crashes',
  'failed',
  'failures',
  'answers',
  'feeds',
  'outbox',
  'repaired',
] as const;

export type InternalWord = (typeof internalWords)[number];

/** Name of an internal key. Never built from anything a user typed but the requests key itself. */
export function internalKey(keys: FrontierKeys, word: InternalWord): string {
  return `${keys.requests}:~${word}`;
}

/** Words of a dupefilter's keys, `<dupefilter>:~<word>`, beside its own: see `lua/parts/dupefilter-pieces.lua`. */
export const dupefilterWords = ['index', 'garbage', 'probe'] as const;

export function dupefilterKey(keys: FrontierKeys, word: (typeof dupefilterWords)[number]): string {
  return `${keys.dupefilter}:~${word}`;
}

/** One of the pieces of a dupefilter that is made of many keys. */
export function dupefilterPiece(keys: FrontierKeys, generation: string, number: number): string {
  return `${keys.dupefilter}:~piece:${generation}:${number}`;
}

/** KEYS of every script, in the one order that `lua/parts/base.lua` names. */
export function scriptKeys(keys: FrontierKeys): string[] {
  return [keys.requests, keys.dupefilter, keys.items, keys.stats, ...keys.startUrls];
}
