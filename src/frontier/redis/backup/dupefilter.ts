/** Reads the fingerprints of a dupefilter for a backup, and encodes them for a restore. Layouts: `lua/dupefilters/`. */
import { type BackupEntry, type EntryOf, hasExpired, inEntries } from '../../backup/entry.js';
import { classOf, type Dupefilter } from '../../dupefilter-classes.js';
import type { RequestLife } from '../../frontier.js';
import type { FrontierKeys } from '../../open-options.js';
import type { Arguments, LuaValue } from '../connection/lua-message.js';
import { type Ask, pairs, walk } from '../connection/scan.js';
import { agreedDupefilter, states } from '../crawl/dupefilter.js';
import { clockOf } from '../crawl/measuring.js';
import { dupefilterKey, dupefilterPiece } from '../keys.js';

/** Fingerprints of one reply. */
const WINDOW = 2_000;
/** Pieces of a CompactDupeFilter, some 200 fingerprints each. */
const BUCKETS = 10;
const ID_BYTES = 20;
const LIFE_BYTES = 11;
/** The fields of the index of a dupefilter of bits, in their order in a backup. */
const indexFields = ['pieces', 'seen', 'slices', 'filled', 'allocated'] as const;

/** @param ours the dupefilter of the settings, used when the crawl has not agreed on one yet. */
export async function* readDupefilter(
  ask: Ask,
  keys: FrontierKeys,
  ours: Dupefilter,
): AsyncIterable<BackupEntry> {
  const choice = (await ask((client) => agreedDupefilter(client, keys))) ?? ours;
  const index = await ask((client) => client.hgetall(dupefilterKey(keys, 'index')));
  const holdsAny = Number(index.seen) > 0 || (await ask((client) => client.exists(keys.dupefilter)));
  if (!holdsAny) return;
  const { redisLayout } = classOf(choice);
  const numbers =
    redisLayout === 'pieces: bits' ? indexFields.map((field) => Number(index[field] ?? 0)) : null;
  yield { kind: 'dupefilter', choice, engine: 'redis', index: numbers };
  const pieces = Array.from({ length: Number(index.pieces ?? 0) }, (_, piece) =>
    dupefilterPiece(keys, index.generation ?? '', piece),
  );
  switch (redisLayout) {
    case 'set':
      return yield* readSet(ask, keys.dupefilter);
    case 'zset': {
      const nowMs = await ask(clockOf);
      const living = (score: Buffer) => unexpired(unpackUntil(score), nowMs);
      return yield* readRows('zscanBuffer', ask, keys.dupefilter, living, (untilMs) => ({ untilMs }));
    }
    case 'hash':
      return yield* readRows('hscanBuffer', ask, keys.dupefilter, unpackLife, (lives) => ({ lives }));
    case 'pieces: sets':
      return yield* readBuckets(ask, pieces);
    case 'pieces: bits':
      return yield* readBits(ask, pieces);
  }
}

async function* readSet(ask: Ask, key: string): AsyncIterable<BackupEntry> {
  const pages = walk(ask, (client, cursor) => client.sscanBuffer(key, cursor, 'COUNT', WINDOW));
  for await (const values of inEntries(pages, (value) => value.length)) {
    yield { kind: 'seen', values: values.map(String) };
  }
}

/** Fingerprints with a score or a value each. @param decode gives undefined for one that is left out */
async function* readRows<T>(
  scan: 'zscanBuffer' | 'hscanBuffer',
  ask: Ask,
  key: string,
  decode: (value: Buffer) => T | undefined,
  describe: (values: T[]) => Pick<EntryOf<'seen'>, 'untilMs' | 'lives'>,
): AsyncIterable<BackupEntry> {
  async function* rows(): AsyncIterable<{ id: string; value: T }[]> {
    for await (const page of walk(ask, (client, cursor) => client[scan](key, cursor, 'COUNT', WINDOW)))
      yield pairs(page).flatMap(([id, packed]) => {
        const value = decode(packed);
        return value === undefined ? [] : [{ id: id.toString('hex'), value }];
      });
  }
  for await (const found of inEntries(rows(), ({ id }) => id.length))
    yield { kind: 'seen', values: found.map(({ id }) => id), ...describe(found.map(({ value }) => value)) };
}

async function* readBuckets(ask: Ask, pieces: readonly string[]): AsyncIterable<BackupEntry> {
  async function* buckets(): AsyncIterable<string[]> {
    for (let at = 0; at < pieces.length; at += BUCKETS) {
      const names = pieces.slice(at, at + BUCKETS);
      const found = await ask((client) => Promise.all(names.map((name) => client.smembers(name))));
      yield found.flat().map((mark) => BigInt.asUintN(64, BigInt(mark)).toString(16).padStart(16, '0'));
    }
  }
  for await (const values of inEntries(buckets(), (value) => value.length)) yield { kind: 'seen', values };
}

async function* readBits(ask: Ask, pieces: readonly string[]): AsyncIterable<BackupEntry> {
  for (const [piece, name] of pieces.entries()) {
    const bits = await ask((client) => client.getBuffer(name));
    // Not allocated yet.
    if (bits === null) continue;
    yield { kind: 'bits', values: [[String(piece), bits.toString('base64')]] };
  }
}

/** Undefined for an instant that has passed. */
const unexpired = (untilMs: number | null, nowMs: number) =>
  hasExpired(untilMs, nowMs) ? undefined : untilMs;

/** Decodes a score of `lua/dupefilters/expiring.lua`. */
function unpackUntil(score: Buffer): number | null {
  return score.toString() === 'inf' ? null : Number(score);
}

/** Decodes a value of `lua/dupefilters/state.lua`. */
function unpackLife(packed: Buffer): RequestLife {
  return {
    state: states[packed.toString('latin1', 0, 1)] ?? 'pending',
    atMs: packed.readUIntBE(1, 6),
    status: packed.readUInt16BE(7) || null,
    attempts: packed.readUInt16BE(9),
  };
}

function packLife({ state, atMs, status, attempts }: RequestLife): Buffer {
  const packed = Buffer.alloc(LIFE_BYTES);
  const [letter = 'p'] = Object.entries(states).find(([, name]) => name === state) ?? [];
  packed.write(letter, 'latin1');
  packed.writeUIntBE(atMs, 1, 6);
  packed.writeUInt16BE(status ?? 0, 7);
  packed.writeUInt16BE(Math.min(attempts, 0xffff), 9);
  return packed;
}

/**
 * Encodes fingerprints for a dupefilter of this class, for `lua/backup/restore-entry.lua`. A SET may contain values that
 * are not fingerprints, as other programs can write to it. They are restored only into a SET.
 */
export function seenArguments({ values, untilMs, lives }: EntryOf<'seen'>, into: Dupefilter): Arguments {
  const { redisLayout, markOf } = classOf(into);
  const isSet = redisLayout === 'set';
  const rows = values
    .map((value, n) => ({ value, untilMs: untilMs?.[n], life: lives?.[n] }))
    .filter(({ value }) => isSet || /^[0-9a-f]{16}([0-9a-f]{24})?$/i.test(value));
  const marks = rows.map(({ value }): LuaValue => (isSet ? value : markOf(value.padEnd(2 * ID_BYTES, '0'))));
  if (untilMs !== undefined) return { marks, untils: rows.map((row): LuaValue => row.untilMs ?? '+inf') };
  if (lives !== undefined && redisLayout === 'hash') {
    return { marks, lives: rows.map(({ life }): LuaValue => packLife(life!)) };
  }
  return { marks };
}

/** Encodes the index of a dupefilter of bits for `lua/backup/restore-entry.lua`. */
export function indexArguments(index: readonly number[]): Arguments {
  return Object.fromEntries(indexFields.map((field, n) => [field, index[n] ?? 0]));
}
