/** What a dupefilter holds, for a backup and from one. A class's own rows come back into it whole, others as fingerprints. */
import { type BackupEntry, inEntries } from '../../backup/entry.js';
import type { RequestLife } from '../../frontier.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { Transaction } from '../crawl/transaction.js';
import { BLOCK_BYTES } from '../dupefilters/bloom.js';
import type { Ground } from '../dupefilters/dupefilter.js';
import type { OpenDupefilter } from '../dupefilters/seen.js';
import { bytesOf, hexOf } from '../queue/requests.js';

type Seen = Extract<BackupEntry, { kind: 'seen' }>;

/** A fingerprint in hex, with what else its class knows of it. */
interface SeenValue {
  readonly fingerprint: string;
  /** Null is never. */
  readonly untilMs?: number | null;
  readonly life?: RequestLife;
}

interface Page<T> {
  readonly values: readonly T[];
  /** What the next page begins behind; null at the end. */
  readonly last: Uint8Array | bigint | number | null;
}

/** All that is recorded, `window` rows a transaction. */
export async function* readSeen(batch: CommitBatch, window: number): AsyncIterable<BackupEntry> {
  const ground = await batch.read((tx) => tx.dupefilter.open()?.ground ?? null);
  if (ground === null || ground.count === 0) return;
  const { choice, count } = ground;
  const isBits = choice.class === 'BloomDupeFilter';
  yield { kind: 'dupefilter', choice, engine: 'embedded', index: isBits ? [count] : null };
  if (isBits) {
    const blocks = pages(batch, (ground, after) => readBlocks(ground, after as number | null, window));
    for await (const values of inEntries(blocks, ([, bits]) => bits.length)) yield { kind: 'bits', values };
    return;
  }
  const known = pages(batch, (ground, after) => readValues(ground, after, window));
  for await (const values of inEntries(known, () => 40)) yield seenEntry(values);
}

async function* pages<T>(
  batch: CommitBatch,
  read: (ground: Ground, after: Page<T>['last']) => Page<T>,
): AsyncIterable<readonly T[]> {
  let after: Page<T>['last'] = null;
  do {
    const from: Page<T>['last'] = after;
    const page: Page<T> = await batch.read((tx) => {
      const ground = tx.dupefilter.open()?.ground;
      return ground === undefined ? { values: [], last: null } : read(ground, from);
    });
    yield page.values;
    after = page.last;
  } while (after !== null);
}

function seenEntry(values: readonly SeenValue[]): Seen {
  const lives = values.flatMap(({ life }) => (life === undefined ? [] : [life]));
  return {
    kind: 'seen',
    values: values.map(({ fingerprint }) => fingerprint),
    ...(values[0]?.untilMs === undefined ? {} : { untilMs: values.map(({ untilMs }) => untilMs ?? null) }),
    ...(lives.length === 0 ? {} : { lives }),
  };
}

function readValues(
  { sql, space, choice }: Ground,
  last: Page<SeenValue>['last'],
  max: number,
): Page<SeenValue> {
  if (choice.class === 'CompactDupeFilter') {
    const statement = sql.of(
      'SELECT hash FROM seen_compact WHERE space = ? AND hash >= ? ORDER BY hash LIMIT ?',
      (it) => it.setReadBigInts(true),
    );
    const from = last === null ? LEAST_HASH : (last as bigint) + 1n;
    const rows = statement.all(space, from, max) as { hash: bigint }[];
    const values = rows.map(({ hash }) => ({
      fingerprint: BigInt.asUintN(64, hash).toString(16).padStart(16, '0'),
    }));
    const end = rows.at(-1)?.hash ?? GREATEST_HASH;
    return { values, last: rows.length < max || end === GREATEST_HASH ? null : end };
  }
  const after = (last ?? Buffer.alloc(0)) as Uint8Array;
  const rows = sql.of(pageOf[choice.class as keyof typeof pageOf]).all(space, after, max) as SeenRow[];
  const values = rows.map(({ id, until, state, at, status, attempts }) => ({
    fingerprint: hexOf(id),
    ...(until === undefined ? {} : { untilMs: until === 0 ? null : until }),
    ...(state === undefined ? {} : { life: { state, atMs: at!, status: status!, attempts: attempts! } }),
  }));
  return { values, last: rows.length < max ? null : rows.at(-1)!.id };
}

const LEAST_HASH = -(2n ** 63n);
const GREATEST_HASH = 2n ** 63n - 1n;

const pageOf = {
  RFPDupeFilter: 'SELECT id FROM seen WHERE space = ? AND id > ? ORDER BY id LIMIT ?',
  TimedRFPDupeFilter: 'SELECT id, until FROM seen_timed WHERE space = ? AND id > ? ORDER BY id LIMIT ?',
  StateDupeFilter:
    'SELECT id, state, at, status, attempts FROM seen_state WHERE space = ? AND id > ? ORDER BY id LIMIT ?',
};

interface SeenRow {
  readonly id: Uint8Array;
  readonly until?: number;
  readonly state?: RequestLife['state'];
  readonly at?: number;
  readonly status?: number | null;
  readonly attempts?: number;
}

/** The place of a block is its slice and its number: `1.17`. */
function readBlocks(
  { sql, space }: Ground,
  after: number | null,
  max: number,
): Page<readonly [string, string]> {
  const rows = sql.all<{ row: number; slice: number; block: number; bits: Uint8Array }>`
    SELECT rowid AS row, slice, block, bits FROM seen_bloom WHERE space = ${space} AND rowid > ${after ?? 0} ORDER BY rowid LIMIT ${max}`;
  const values = rows.map(
    ({ slice, block, bits }) => [`${slice}.${block}`, Buffer.from(bits).toString('base64')] as const,
  );
  return { values, last: rows.length < max ? null : rows.at(-1)!.row };
}

/** Record fingerprints of a backup; what is known here stays. What is no fingerprint matches no request. */
export function bringBackSeen(tx: Transaction, { values, untilMs, lives }: Seen): void {
  const open = tx.dupefilter.begin();
  for (const [n, value] of values.entries()) {
    if (!/^[0-9a-f]{16}([0-9a-f]{24})?$/i.test(value)) continue;
    const fingerprint = bytesOf(value.padEnd(40, '0'));
    bringBackValue(open, fingerprint, untilMs?.[n], lives?.[n]);
  }
}

function bringBackValue(
  { ground, filter }: OpenDupefilter,
  fingerprint: Buffer,
  untilMs: number | null | undefined,
  life: RequestLife | undefined,
): void {
  const { sql, space, choice, now } = ground;
  const nowMs = now();
  if (choice.class === 'StateDupeFilter') {
    // Of what another class has seen only so much is known: that it was met.
    const { state, atMs, status, attempts } = life ?? {
      state: 'done',
      atMs: nowMs,
      status: null,
      attempts: 0,
    };
    ground.count += sql.run`INSERT OR IGNORE INTO seen_state (space, id, state, at, status, attempts)
      VALUES (${space}, ${fingerprint}, ${state}, ${atMs}, ${status}, ${attempts})`;
  } else if (choice.class === 'TimedRFPDupeFilter' && choice.expireMs > 0 && typeof untilMs === 'number') {
    if (untilMs <= nowMs) return;
    // The later instant stays.
    const isNew = sql.run`INSERT OR IGNORE INTO seen_timed (space, id, until) VALUES (${space}, ${fingerprint}, ${untilMs})`;
    if (isNew === 0) {
      sql.run`UPDATE seen_timed SET until = max(until, ${untilMs}) WHERE space = ${space} AND id = ${fingerprint} AND until > 0`;
    }
    ground.count += isNew;
  } else {
    const isSeen = filter.has(fingerprint);
    if (!isSeen) filter.record(fingerprint, false);
  }
}

/** A filter whose bits follow: so many fingerprints are in them. @returns false for bits that lie in another way. */
export function bringBackCount(tx: Transaction, index: readonly number[]): boolean {
  const [count] = index;
  if (index.length !== 1 || count === undefined) return false;
  tx.dupefilter.begin().ground.count = count;
  return true;
}

/** Bits of a filter, block by block. */
export function bringBackBits(
  tx: Transaction,
  values: readonly (readonly [place: string, bits: string])[],
): void {
  const { sql, space } = tx.dupefilter.begin().ground;
  for (const [place, text] of values) {
    const [slice = 0, block = 0] = place.split('.').map(Number);
    const bits = Buffer.from(text, 'base64');
    if (bits.length !== BLOCK_BYTES) continue;
    sql.run`INSERT OR IGNORE INTO seen_bloom (space, slice, block, bits) VALUES (${space}, ${slice}, ${block}, ${bits})`;
  }
}
