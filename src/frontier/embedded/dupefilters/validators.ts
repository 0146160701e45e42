/**
 * The validators of pages that may be downloaded again. They hold only under the epoch of their commit: when a fingerprint is
 * forgotten, the page that links to it must be read again.
 */
import type { ValidatorChange } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { bytesOf } from '../queue/requests.js';

/** @param hasDropped a link of the page was dropped, and must be found again. */
export function commitValidators(
  { sql, space, crawl }: Transaction,
  { fingerprint, text }: ValidatorChange,
  hasDropped: boolean,
): void {
  const id = bytesOf(fingerprint);
  if (text === null || hasDropped) sql.run`DELETE FROM validator WHERE space = ${space} AND id = ${id}`;
  else {
    sql.run`REPLACE INTO validator (space, id, epoch, text) VALUES (${space}, ${id}, ${crawl.epoch}, ${text})`;
  }
}

/** In the order of the fingerprints; null where there are none. */
export function readValidators(tx: Transaction, fingerprints: readonly string[]): (string | null)[] {
  if (!tx.hasCrawl) return fingerprints.map(() => null);
  const { sql, space, crawl } = tx;
  return fingerprints.map((fingerprint) => {
    const row = sql.get<{ text: string }>`SELECT text FROM validator
      WHERE space = ${space} AND id = ${bytesOf(fingerprint)} AND epoch = ${crawl.epoch}`;
    return row?.text ?? null;
  });
}
