/**
 * The classes of dupefilter (DUPEFILTER_CLASS), each described by one object. Other code asks the description and never
 * compares names of classes, so a new class is added here, as a table in `redis/lua/dupefilters/` and in the setting's list.
 *
 * How fingerprints are stored is a layout, which several classes may share: in Redis the type of a key (`RedisLayout`), in
 * the embedded engine a table (`EmbeddedTable`). A class with a layout of its own also adds that one:
 * `redis/backup/dupefilter.ts` reads it for backups, `embedded/dupefilters/` has a class for each table.
 */
import { RefusedError } from '../errors.js';
import type { Settings } from '../settings/schema.js';
import { type BloomParameters, bloomSizing } from './bloom-sizing.js';

/** The type of the dupefilter's key, or of the pieces of one that is made of many keys. */
export type RedisLayout = 'set' | 'zset' | 'hash' | 'pieces: sets' | 'pieces: bits';

/** The table of `embedded/schema.sql`. */
export type EmbeddedTable = 'seen' | 'seen_timed' | 'seen_state' | 'seen_compact' | 'seen_bloom';

export interface DupefilterClass<Parameters extends object = object> {
  /** Its parameters. All nodes and seeds of a crawl must have the same. */
  params(settings: Settings): Parameters;
  /**
   * When a fingerprint that is accepted at `nowMs` is forgotten; null for never. In Redis the Lua table of the class
   * computes it, on the server's clock.
   */
  expiresAt(parameters: Parameters, nowMs: number): number | null;
  /** Whether it stores complete fingerprints, so that a backup of it can be restored into every class. */
  readonly isExact: boolean;
  /** Whether single fingerprints can be removed. Where not, the class has no `forget` in Lua. */
  readonly canForget: boolean;
  readonly redisLayout: RedisLayout;
  readonly table: EmbeddedTable;
  /** A fingerprint (40 hex digits) as Redis stores it. @param raw the same as 20 bytes, when they are there already. */
  markOf(fingerprint: string, raw?: Buffer): Buffer | string;
  /** What its Lua table needs beside the parameters. */
  luaArguments?(parameters: Parameters): Readonly<Record<string, number>>;
}

const none = () => ({});
const never = () => null;
const asHex = (fingerprint: string) => fingerprint;
const asBytes = (fingerprint: string, raw?: Buffer) => raw ?? Buffer.from(fingerprint, 'hex');

const dupefilters = {
  /** The format of Scrapy-Redis 0.8 and later. */
  RFPDupeFilter: {
    params: none,
    expiresAt: never,
    isExact: true,
    canForget: true,
    redisLayout: 'set',
    table: 'seen',
    markOf: asHex,
  },

  /** A fingerprint expires `expireMs` after it was last accepted. Rejected duplicates do not extend this. 0 is never. */
  TimedRFPDupeFilter: {
    params: ({ DUPEFILTER_EXPIRE }) => ({ expireMs: Math.round(DUPEFILTER_EXPIRE * 1000) }),
    expiresAt: ({ expireMs }, nowMs) => (expireMs === 0 ? null : nowMs + expireMs),
    isExact: true,
    canForget: true,
    redisLayout: 'zset',
    table: 'seen_timed',
    markOf: asBytes,
  } satisfies DupefilterClass<{ readonly expireMs: number }>,

  /** Each fingerprint with the last thing that happened to its request. */
  StateDupeFilter: {
    params: none,
    expiresAt: never,
    isExact: true,
    canForget: true,
    redisLayout: 'hash',
    table: 'seen_state',
    markOf: asBytes,
  },

  /** Bits of a Bloom filter. Each of them also belongs to other fingerprints, so none can be forgotten. */
  BloomDupeFilter: {
    params: (settings) => ({
      capacity: settings.DUPEFILTER_CAPACITY,
      errorRate: settings.DUPEFILTER_ERROR_RATE,
    }),
    expiresAt: never,
    isExact: false,
    canForget: false,
    redisLayout: 'pieces: bits',
    table: 'seen_bloom',
    markOf: asBytes,
    luaArguments: (parameters) => ({ ...bloomSizing(parameters) }),
  } satisfies DupefilterClass<BloomParameters>,

  /** The first 64 bits of each fingerprint, as a signed integer. */
  CompactDupeFilter: {
    params: none,
    expiresAt: never,
    isExact: false,
    canForget: true,
    redisLayout: 'pieces: sets',
    table: 'seen_compact',
    markOf: (fingerprint) => BigInt.asIntN(64, BigInt(`0x${fingerprint.slice(0, 16)}`)).toString(),
  },
} satisfies Record<Settings['DUPEFILTER_CLASS'], DupefilterClass>;

type DupefilterName = keyof typeof dupefilters;

/**
 * The class and parameters of a dupefilter, which records accepted fingerprints. The first request or node of a crawl
 * decides them, since two classes cannot share the stored data.
 */
export type Dupefilter = {
  [Name in DupefilterName]: { readonly class: Name } & Readonly<
    ReturnType<(typeof dupefilters)[Name]['params']>
  >;
}[DupefilterName];

export const dupefilterNames = Object.keys(dupefilters) as readonly DupefilterName[];

const MAX_SHOWN_CHARS = 100;

/** @throws RefusedError for a class in the store that only a later crawlnode has. */
export function classOf(stored: Pick<Dupefilter, 'class'>): DupefilterClass {
  const name: unknown = stored?.class;
  if (typeof name === 'string' && Object.hasOwn(dupefilters, name))
    return dupefilters[name as DupefilterName];
  const read = typeof name === 'string' ? name : String(JSON.stringify(stored));
  throw new RefusedError(
    `the fingerprints of this crawl are stored by a ${read.slice(0, MAX_SHOWN_CHARS)}, and this crawlnode has only ${dupefilterNames.join(', ')}: go on with the version of crawlnode that wrote them, or forget them with "crawlnode reset SPIDER --only dupefilter"`,
    { code: 'shape' },
  );
}

/** The dupefilter that settings choose. */
export function dupefilterOf(settings: Settings): Dupefilter {
  const name = settings.DUPEFILTER_CLASS;
  return { class: name, ...dupefilters[name].params(settings) } as Dupefilter;
}

/** When a fingerprint that is accepted at `nowMs` is forgotten; null for never. */
export function expiresAt(dupefilter: Dupefilter, nowMs: number): number | null {
  return classOf(dupefilter).expiresAt(dupefilter, nowMs);
}

/** Whether fingerprints expire, so that pages come again. */
export function expires(dupefilter: Dupefilter): boolean {
  return expiresAt(dupefilter, 0) !== null;
}
