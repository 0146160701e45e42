/**
 * RFPDupeFilter: each fingerprint as it is, exact. It keeps no entries of its own: its fingerprints are ids that bear the
 * mark of its generation among what is known of a crawl's ids (`known.ts`).
 */
import type { Desk, Dupefilter, SeenValue } from './dupefilter.js';
import { entryBytes, HEAD_BYTES, ID_BYTES, NUMBER_BYTES, Table } from './keys.js';
import { claimMarks, decodeKnown, type KnownIds, keepClaim } from './known.js';
import type { Ledger } from './ledger.js';
import { requestOf } from './live.js';
import type { Records } from './records.js';

/** The number of a request, which stays, and nearly always one byte of a mark. */
const VALUE_BYTES = NUMBER_BYTES + 1;

export class RfpDupefilter implements Dupefilter {
  readonly backUpTable = Table.known;
  readonly #desk: Desk;
  readonly #known: KnownIds;
  readonly #generation: number;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#known = desk.tables.knownIn(desk.ledger.space);
    this.#generation = desk.ledger.parts;
  }

  seenUntilMs(fingerprint: string): number {
    return this.#known.generationOf(fingerprint) === this.#generation ? Number.POSITIVE_INFINITY : 0;
  }

  record(fingerprint: string, isSeen: boolean): void {
    if (isSeen) return;
    this.#known.setGeneration(fingerprint, this.#generation);
    this.#desk.ledger.count += 1;
  }

  /** The number stays only with a live request. */
  forget(fingerprint: string): boolean {
    const known = this.#known;
    if (known.generationOf(fingerprint) !== this.#generation) return false;
    const { tables, ledger } = this.#desk;
    known.setGeneration(fingerprint, 0);
    if (requestOf(tables, ledger.space, known.numberOf(fingerprint), fingerprint) === null)
      known.setNumber(fingerprint, 0);
    ledger.count -= 1;
    return true;
  }

  bytes(): number {
    return this.#desk.ledger.count * entryBytes(HEAD_BYTES + ID_BYTES, VALUE_BYTES);
  }

  examine(): { count: number; breaches: string[] } {
    return { count: this.#known.countMarked(this.#generation), breaches: [] };
  }

  backUp(place: Buffer, value: Buffer): SeenValue[] {
    const isSeen = place.length === ID_BYTES && decodeKnown(value).generation === this.#generation;
    return isSeen ? [{ fingerprint: place.toString('hex') }] : [];
  }

  bringBack(fingerprint: string): void {
    this.record(fingerprint, this.seenUntilMs(fingerprint) > 0);
  }
}

/** Where the marks of a dupefilter that begins are to lie: beside the requests of this crawl, unless another's do. */
export function placeOfMarks(tables: Records): Partial<Ledger> {
  const { crawl, dupefilter } = tables.spaces;
  const parts = claimMarks(tables, crawl, dupefilter);
  return parts === 0 ? { parts: 1 } : { parts, space: crawl };
}

/** Have the store say again where they lie, should that be lost. */
export function keepPlaceOfMarks({ tables, ledger }: Desk): void {
  const { crawl, dupefilter } = tables.spaces;
  const isHere = ledger.choice.class === 'RFPDupeFilter' && ledger.space.equals(crawl);
  if (isHere) keepClaim(tables, crawl, dupefilter, ledger.parts);
}
