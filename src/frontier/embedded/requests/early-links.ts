/**
 * Links with dontFilter that a page has pushed before its settle. No dupefilter knows them, so their ids are kept while the request
 * of the page is live: when its node dies and a link is done by then, the page comes again and would have it accepted twice.
 *
 * The ids of a page are rows of a space of their own, some 31 bytes each, as in the table `seen`. The space loses its name with the page, and the rows
 * are deleted later in small steps, however many they are.
 */
import type { Transaction } from '../base/transaction.js';

/** Whether a page may push links before its settle: only while its request is live. */
export type EarlyPage = { readonly id: Uint8Array; readonly isLive: boolean };

/** Whether the page has pushed this link already, or has ended, so that all its links are there. */
export function isKnown(tx: Transaction, { id, isLive }: EarlyPage, link: Uint8Array): boolean {
  if (!isLive) return true;
  const space = spaceOf(tx, id);
  return (
    space !== 0 && tx.sql.get`SELECT 1 FROM early_link WHERE space = ${space} AND id = ${link}` !== undefined
  );
}

/** Keep a link with dontFilter that was accepted. */
export function keepEarly(tx: Transaction, page: Uint8Array, link: Uint8Array): void {
  let space = spaceOf(tx, page);
  if (space === 0) {
    space = tx.sql.insert`INSERT INTO space (name) VALUES (${nameOf(tx, page)})`;
    tx.tally.early_pages += 1;
  }
  tx.sql.run`INSERT OR IGNORE INTO early_link (space, id) VALUES (${space}, ${link})`;
}

/** The request of a page has ended, or that of another one. */
export function forgetEarly(tx: Transaction, page: Uint8Array): void {
  if (tx.tally.early_pages === 0) return;
  tx.tally.early_pages -= tx.sql.run`UPDATE space SET name = NULL WHERE name = ${nameOf(tx, page)}`;
}

/** All requests are deleted. */
export function dropEarly(tx: Transaction): void {
  const prefix = prefixOf(tx);
  tx.sql.run`UPDATE space SET name = NULL WHERE name > ${prefix} AND name < ${`${prefix}g`}`;
  tx.tally.early_pages = 0;
}

/** 0 where the page has pushed none. */
function spaceOf(tx: Transaction, page: Uint8Array): number {
  if (tx.tally.early_pages === 0) return 0;
  return tx.sql.get<{ id: number }>`SELECT id FROM space WHERE name = ${nameOf(tx, page)}`?.id ?? 0;
}

const prefixOf = ({ spaces }: Transaction) => `${spaces.crawl.name}:~early:`;

const nameOf = (tx: Transaction, page: Uint8Array) => prefixOf(tx) + Buffer.from(page).toString('hex');
