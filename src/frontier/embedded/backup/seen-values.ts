/** Reads and restores the fingerprints of a dupefilter. A dupefilter of another class gets only the fingerprints. */
import { type BackupEntry, inEntries } from '../../backup/entry.js';
import type { RequestLife } from '../../frontier.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { Transaction } from '../crawl/transaction.js';
import { BLOCK_BYTES } from '../dupefilters/bloom.js';
import type { Dupefilter } from '../dupefilters/dupefilter.js';
import { bytesOf, hexOf } from '../queue/requests.js';
import { type Page, pageOf, pages } from './read-in-windows.js';

type SeenEntry = Extract<BackupEntry, { kind: 'seen' }>;

/** A fingerprint in hex, with the other data of its class. */
interface SeenValue {
  readonly fingerprint: string;
  /** Null: never. */
  readonly untilMs?: number | null;
  readonly life?: RequestLife;
}

/** All recorded fingerprints. */
export async function* readSeen(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const recorded = await batch.read((tx) => tx.dupefilter.open());
  if (recorded === null || recorded.count === 0) return;
  const { choice, count } = recorded;
  const isBits = choice.class === 'BloomDupeFilter';
  yield { kind: 'dupefilter', choice, engine: 'embedded', index: isBits ? [count] : null };
  if (isBits) {
    const blocks = pages(batch, 0, readBlocks);
    for await (const values of inEntries(blocks, ([, bits]) => bits.length)) yield { kind: 'bits', values };
    return;
  }
  const seen =
    choice.class === 'CompactDupeFilter'
      ? pages(batch, LEAST_HASH - 1n, readHashes)
      : pages<SeenValue, Uint8Array>(batch, Buffer.alloc(0), readRows);
  for await (const values of inEntries(seen, () => 40)) yield seenEntry(values);
}

function seenEntry(values: readonly SeenValue[]): SeenEntry {
  const lives = values.flatMap(({ life }) => (life === undefined ? [] : [life]));
  return {
    kind: 'seen',
    values: values.map(({ fingerprint }) => fingerprint),
    ...(values[0]?.untilMs === undefined ? {} : { untilMs: values.map(({ untilMs }) => untilMs ?? null) }),
    ...(lives.length === 0 ? {} : { lives }),
  };
}

/** Hashes are signed; no key is smaller than all of them, so the first page begins at the smallest one. */
function readHashes({ sql, spaces }: Transaction, after: bigint, max: number): Page<SeenValue, bigint> {
  const rows = sql
    .of('SELECT hash FROM seen_compact WHERE space = ? AND hash >= ? ORDER BY hash LIMIT ?', (it) =>
      it.setReadBigInts(true),
    )
    .all(spaces.dupefilter.id, after + 1n, max) as { hash: bigint }[];
  const page = pageOf(
    rows,
    max,
    ({ hash }) => hash,
    ({ hash }) => [{ fingerprint: BigInt.asUintN(64, hash).toString(16).padStart(16, '0') }],
  );
  return page.next === GREATEST_HASH ? { ...page, next: null } : page;
}

const LEAST_HASH = -(2n ** 63n);
const GREATEST_HASH = 2n ** 63n - 1n;

const rowsOf: Readonly<Record<string, string>> = {
  RFPDupeFilter: 'SELECT id FROM seen',
  TimedRFPDupeFilter: 'SELECT id, until FROM seen_timed',
  StateDupeFilter: 'SELECT id, state, at, status, attempts FROM seen_state',
};

interface SeenRow {
  readonly id: Uint8Array;
  readonly until?: number;
  readonly state?: RequestLife['state'];
  readonly at?: number;
  readonly status?: number | null;
  readonly attempts?: number;
}

function readRows(
  { sql, spaces, dupefilter }: Transaction,
  after: Uint8Array,
  max: number,
): Page<SeenValue, Uint8Array> {
  const query = rowsOf[dupefilter.choice()?.class ?? 'RFPDupeFilter'];
  const rows = sql
    .of(`${query} WHERE space = ? AND id > ? ORDER BY id LIMIT ?`)
    .all(spaces.dupefilter.id, after, max) as SeenRow[];
  return pageOf(
    rows,
    max,
    ({ id }) => id,
    ({ id, until, state, at, status, attempts }) => [
      {
        fingerprint: hexOf(id),
        ...(until !== undefined && { untilMs: until === 0 ? null : until }),
        ...(state !== undefined && { life: { state, atMs: at!, status: status!, attempts: attempts! } }),
      },
    ],
  );
}

/** A block is named by its slice and its number: `1.17`. */
function readBlocks(
  { sql, spaces }: Transaction,
  after: number,
  max: number,
): Page<readonly [string, string], number> {
  const rows = sql.all<{ row: number; slice: number; block: number; bits: Uint8Array }>`
    SELECT rowid AS row, slice, block, bits FROM seen_bloom
    WHERE space = ${spaces.dupefilter.id} AND rowid > ${after} ORDER BY rowid LIMIT ${max}`;
  return pageOf(
    rows,
    max,
    ({ row }) => row,
    ({ slice, block, bits }) => [[`${slice}.${block}`, Buffer.from(bits).toString('base64')] as const],
  );
}

/** Record fingerprints of a backup. Those recorded already stay as they are; texts that are no fingerprints are skipped. */
export function bringBackSeen(tx: Transaction, { values, untilMs, lives }: SeenEntry): void {
  const open = tx.dupefilter.begin();
  for (const [n, value] of values.entries()) {
    if (!/^[0-9a-f]{16}([0-9a-f]{24})?$/i.test(value)) continue;
    const fingerprint = bytesOf(value.padEnd(40, '0'));
    bringBackValue(tx, open, fingerprint, untilMs?.[n], lives?.[n]);
  }
}

function bringBackValue(
  { sql, nowMs }: Transaction,
  open: Dupefilter,
  fingerprint: Buffer,
  untilMs: number | null | undefined,
  life: RequestLife | undefined,
): void {
  const { space, choice } = open;
  if (choice.class === 'StateDupeFilter') {
    // Another class has recorded no more than that the fingerprint was seen.
    const { state, atMs, status, attempts } = life ?? {
      state: 'done',
      atMs: nowMs,
      status: null,
      attempts: 0,
    };
    open.count += sql.run`INSERT OR IGNORE INTO seen_state (space, id, state, at, status, attempts)
      VALUES (${space}, ${fingerprint}, ${state}, ${atMs}, ${status}, ${attempts})`;
  } else if (choice.class === 'TimedRFPDupeFilter' && choice.expireMs > 0 && typeof untilMs === 'number') {
    if (untilMs <= nowMs) return;
    // The later instant stays.
    const isNew = sql.run`INSERT OR IGNORE INTO seen_timed (space, id, until) VALUES (${space}, ${fingerprint}, ${untilMs})`;
    if (isNew === 0) {
      sql.run`UPDATE seen_timed SET until = max(until, ${untilMs}) WHERE space = ${space} AND id = ${fingerprint} AND until > 0`;
    }
    open.count += isNew;
  } else {
    const isSeen = open.has(fingerprint);
    if (!isSeen) open.record(fingerprint, false);
  }
}

/** Set how many fingerprints are in the bits that follow. @returns false for bits of another layout. */
export function bringBackCount(tx: Transaction, index: readonly number[]): boolean {
  const [count] = index;
  if (index.length !== 1 || count === undefined) return false;
  tx.dupefilter.begin().count = count;
  return true;
}

/** Bits of a filter, block by block. */
export function bringBackBits(
  tx: Transaction,
  values: readonly (readonly [place: string, bits: string])[],
): void {
  const { sql } = tx;
  const { space } = tx.dupefilter.begin();
  for (const [place, text] of values) {
    const [slice = 0, block = 0] = place.split('.').map(Number);
    const bits = Buffer.from(text, 'base64');
    if (bits.length !== BLOCK_BYTES) continue;
    sql.run`INSERT OR IGNORE INTO seen_bloom (space, slice, block, bits) VALUES (${space}, ${slice}, ${block}, ${bits})`;
  }
}
