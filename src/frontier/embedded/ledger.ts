/** What is known of a dupefilter as a whole: its class, how much it holds, and where; one small record beside it. */
import { randomBytes } from 'node:crypto';
import type { Dupefilter as Choice } from '../frontier.js';
import { dupefilterText } from '../shape.js';
import { keyOf, SPACE_BYTES, Table } from './keys.js';
import type { Tables } from './tables.js';

const fields = ['count', 'version', 'bytes', 'parts', 'earliestMs', 'latestMs'] as const;

type Field = (typeof fields)[number];

/**
 * `count` are the fingerprints recorded; `version` changes whenever any is forgotten, so that no client's memory
 * outlives it; `bytes` and `parts` are the sizes and the number of the values, where the class packs many fingerprints
 * into one, and of an RFPDupeFilter `parts` is the generation of its marks (`known.ts`), 0 in data format 3, whose
 * fingerprints were entries of their own; `earliestMs` and `latestMs` the nearest and the furthest expiry, 0 for none.
 */
export interface Ledger extends Record<Field, number> {
  /** The class and its parameters, agreed with the first fingerprint; also for crawls that share the dupefilter's key. */
  readonly choice: Choice;
  /**
   * Where its entries lie: among what a crawl knows of its ids where it has claimed that, else in a space of its own. A
   * cleared dupefilter begins with another generation, or in another space, so that clearing is one small step.
   */
  readonly space: Buffer;
}

/** A dupefilter that holds nothing yet. */
export function newLedger(choice: Choice, place: Partial<Pick<Ledger, 'space' | 'parts'>> = {}): Ledger {
  const zeros = Object.fromEntries(fields.map((field) => [field, 0])) as Record<Field, number>;
  return { ...zeros, version: newVersion(), choice, space: randomBytes(SPACE_BYTES), ...place };
}

const NUMBERS = fields.length * 8;

/** To bytes. */
export function encodeLedger(ledger: Ledger): Buffer {
  const text = dupefilterText(ledger.choice);
  const encoded = Buffer.allocUnsafe(NUMBERS + SPACE_BYTES + text.length);
  for (const [n, field] of fields.entries()) encoded.writeDoubleLE(ledger[field], n * 8);
  encoded.set(ledger.space, NUMBERS);
  encoded.write(text, NUMBERS + SPACE_BYTES, 'latin1');
  return encoded;
}

/** From bytes. */
export function decodeLedger(encoded: Buffer): Ledger {
  const ledger = {
    choice: choiceOf(encoded.toString('latin1', NUMBERS + SPACE_BYTES)),
    space: Buffer.from(encoded.subarray(NUMBERS, NUMBERS + SPACE_BYTES)),
  } as Ledger;
  for (const [n, field] of fields.entries()) ledger[field] = encoded.readDoubleLE(n * 8);
  return ledger;
}

/** The ledger of a dupefilter, by the space of its key; null where nothing is recorded. */
export function readLedger(tables: Tables, dupefilter: Buffer): Ledger | null {
  const encoded = tables.get(keyOf(Table.ledger, dupefilter));
  return encoded === undefined ? null : decodeLedger(encoded);
}

/** Random, so that what was begun anew never has a version that a client remembers; never 0. */
export function newVersion(): number {
  return 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
}

let lastChoice: { readonly text: string; readonly choice: Choice } | undefined;

/** Every transaction asks, and it is nearly always the same. */
function choiceOf(text: string): Choice {
  if (lastChoice?.text !== text) {
    lastChoice = { text, choice: JSON.parse(text) as Choice };
  }
  return lastChoice.choice;
}
