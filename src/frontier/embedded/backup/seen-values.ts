/** Reads and restores the fingerprints of a dupefilter. A dupefilter of another class gets only the fingerprints. */
import { RefusedError } from '../../../errors.js';
import { type BackupEntry, type EntryOf, hasExpired, inEntries } from '../../backup/entry.js';
import type { CommitBatch } from '../base/commit-batch.js';
import { rowsInWindows } from '../base/in-windows.js';
import type { Transaction } from '../base/transaction.js';
import { BLOCK_BYTES } from '../dupefilters/bloom.js';
import type { BackupRow } from '../dupefilters/dupefilter.js';
import { bytesOf } from '../queue/requests.js';

/** All recorded fingerprints. */
export async function* readSeen(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const recorded = await batch.read((tx) => tx.dupefilter.open());
  if (recorded === null || recorded.count === 0) return;
  const { choice, backupQuery } = recorded;
  yield { kind: 'dupefilter', choice, engine: 'embedded', index: recorded.backupIndex() };
  const { first, query, rowChars } = backupQuery;
  const rows = rowsInWindows<BackupRow>(batch, query, ({ spaces }) => spaces.dupefilter.id, first);
  async function* living(): AsyncIterable<BackupRow[]> {
    for await (const page of rows) yield page.filter((row) => !recorded!.hasExpired(row));
  }
  for await (const values of inEntries(living(), () => rowChars)) yield recorded.toBackup(values);
}

/**
 * Record fingerprints of a backup. Those recorded already stay as they are. Expired ones, and texts that are no fingerprints,
 * are skipped.
 */
export function bringBackSeen(tx: Transaction, { values, untilMs, lives }: EntryOf<'seen'>): void {
  const open = tx.dupefilter.begin();
  for (const [n, value] of values.entries()) {
    if (!/^[0-9a-f]{16}([0-9a-f]{24})?$/i.test(value) || hasExpired(untilMs?.[n], tx.nowMs)) continue;
    const fingerprint = bytesOf(value.padEnd(40, '0'));
    open.fromBackup(fingerprint, { untilMs: untilMs?.[n], life: lives?.[n] });
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
