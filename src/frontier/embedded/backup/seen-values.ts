/** Reads and restores the fingerprints of a dupefilter. A dupefilter of another class gets only the fingerprints. */
import type { Value } from '../../../disk/sqlite.js';
import { RefusedError } from '../../../errors.js';
import { type BackupEntry, type EntryOf, inEntries } from '../../backup/entry.js';
import type { Dupefilter as Choice, RequestLife } from '../../frontier.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { Transaction } from '../crawl/transaction.js';
import { BLOCK_BYTES } from '../dupefilters/bloom.js';
import { bufferOf, type Dupefilter } from '../dupefilters/dupefilter.js';
import { bytesOf } from '../queue/requests.js';
import { rowsInWindows } from './read-in-windows.js';

/** All recorded fingerprints. */
export async function* readSeen(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const recorded = await batch.read((tx) => tx.dupefilter.open());
  if (recorded === null || recorded.count === 0) return;
  const { choice, count } = recorded;
  const isBits = choice.class === 'BloomDupeFilter';
  yield { kind: 'dupefilter', choice, engine: 'embedded', index: isBits ? [count] : null };
  const { first, query } = rowsOf[choice.class];
  const rows = rowsInWindows<SeenRow>(batch, query, ({ spaces }) => spaces.dupefilter.id, first);
  for await (const values of inEntries(rows, ({ bits }) => (bits === undefined ? 40 : BASE64_BYTES)))
    yield seenEntry(choice, values);
}

/** Of the bits of a block. */
const BASE64_BYTES = (BLOCK_BYTES / 3) * 4;

interface SeenRow {
  /** The fingerprint in hex; of a block of bits its slice and number: `1.17`. */
  readonly value: string;
  /** Null: never. */
  readonly untilMs?: number | null;
  readonly life?: string;
  readonly bits?: Uint8Array;
}

/** The rows of each class. The key of a hash is a text: a number of JavaScript would not hold its 64 bits. */
const rowsOf: Readonly<Record<Choice['class'], { readonly first: Value; readonly query: string }>> = {
  RFPDupeFilter: rowsById('lower(hex(id)) AS value FROM seen'),
  TimedRFPDupeFilter: rowsById('lower(hex(id)) AS value, nullif(until, 0) AS untilMs FROM seen_timed'),
  StateDupeFilter: rowsById(`lower(hex(id)) AS value,
    json_object('state', state, 'atMs', at, 'status', status, 'attempts', attempts) AS life FROM seen_state`),
  CompactDupeFilter: {
    first: '-1e19',
    query: `SELECT CAST(hash AS TEXT) AS key, printf('%016x', hash) AS value FROM seen_compact
      WHERE space = ? AND hash > ? ORDER BY hash LIMIT ?`,
  },
  BloomDupeFilter: {
    first: 0,
    query: `SELECT rowid AS key, slice || '.' || block AS value, bits FROM seen_bloom
      WHERE space = ? AND rowid > ? ORDER BY rowid LIMIT ?`,
  },
};

function rowsById(columns: string) {
  const query = `SELECT id AS key, ${columns} WHERE space = ? AND id > ? ORDER BY id LIMIT ?`;
  return { first: Buffer.alloc(0), query };
}

function seenEntry({ class: name }: Choice, rows: readonly SeenRow[]): BackupEntry {
  if (name === 'BloomDupeFilter') {
    const blocks = rows.map(({ value, bits }) => [value, bufferOf(bits!).toString('base64')] as const);
    return { kind: 'bits', values: blocks };
  }
  const values = rows.map(({ value }) => value);
  switch (name) {
    case 'TimedRFPDupeFilter':
      return { kind: 'seen', values, untilMs: rows.map(({ untilMs }) => untilMs ?? null) };
    case 'StateDupeFilter':
      return { kind: 'seen', values, lives: rows.map(({ life }) => JSON.parse(life!) as RequestLife) };
    default:
      return { kind: 'seen', values };
  }
}

/** Record fingerprints of a backup. Those recorded already stay as they are; texts that are no fingerprints are skipped. */
export function bringBackSeen(tx: Transaction, { values, untilMs, lives }: EntryOf<'seen'>): void {
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
    const done: RequestLife = { state: 'done', atMs: nowMs, status: null, attempts: 0 };
    const { state, atMs, status, attempts } = life ?? done;
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

/** Set how many fingerprints are in the bits that follow. @throws RefusedError for bits of another layout. */
export function bringBackCount(tx: Transaction, index: readonly number[]): void {
  const [count] = index;
  if (index.length !== 1 || count === undefined) throw otherBits();
  tx.dupefilter.begin().count = count;
}

/** Bits of a filter, block by block. */
export function bringBackBits(tx: Transaction, { values }: EntryOf<'bits'>): void {
  const { sql } = tx;
  const { space } = tx.dupefilter.begin();
  for (const [place, text] of values) {
    const [slice = 0, block = 0] = place.split('.').map(Number);
    const bits = Buffer.from(text, 'base64');
    if (bits.length !== BLOCK_BYTES) continue;
    sql.run`INSERT OR IGNORE INTO seen_bloom (space, slice, block, bits) VALUES (${space}, ${slice}, ${block}, ${bits})`;
  }
}

function otherBits(): RefusedError {
  return new RefusedError(
    'the bits of this BloomDupeFilter were saved by a crawlnode whose embedded store kept them in another way: bring back the other parts with --only',
    { code: 'other_bits' },
  );
}
