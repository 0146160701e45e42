/** The small records that the verbs of a transaction share: domains, incarnations, heads of lists, statistics. */
import { type DomainEntry, decodeDomain, encodeDomain } from './domain-entry.js';
import { decodeIncarnation, encodeIncarnation, type IncarnationEntry } from './incarnation-entry.js';
import { IndexHead } from './index-head.js';
import type { Header, Kept } from './kept.js';
import {
  blankKey,
  type DomainId,
  domainId,
  domainIdOf,
  HEAD_BYTES,
  keyOf,
  NUMBER_BYTES,
  nothing,
  numberedKey,
  readUint53,
  Table,
  writeNumber,
} from './keys.js';
import { KnownIds } from './known.js';
import { RecordCache } from './record-cache.js';
import type { Spaces } from './spaces.js';
import { type Store, Tables } from './tables.js';

/** Heads of indexes kept, most of them of the queues of domains; 10 KB each. */
const MAX_HEADS = 2_000;

export class Records extends Tables {
  readonly spaces: Spaces;
  readonly kept: Kept;
  /** What is known of the ids of this crawl. */
  readonly known: KnownIds;
  readonly #requestKey: Buffer;
  #elsewhere: readonly [space: Buffer, ids: KnownIds] | undefined;
  readonly #domains: RecordCache<DomainId, DomainEntry>;
  readonly #incarnations: RecordCache<number, IncarnationEntry>;
  readonly #headers: RecordCache<Buffer, Header>;
  readonly #counters: RecordCache<string, number>;

  constructor(db: Store, spaces: Spaces, kept: Kept) {
    super(db);
    this.spaces = spaces;
    this.kept = kept;
    this.known = new KnownIds(this, spaces.crawl);
    this.#requestKey = blankKey(Table.request, spaces.crawl, NUMBER_BYTES);
    this.#domains = new RecordCache(this, kept.domains, {
      nameOf: ({ text }) => text,
      keyOf: ({ hash }) => keyOf(Table.domain, spaces.crawl, hash),
      decode: (bytes, id) => decodeDomain(bytes, id),
      encode: encodeDomain,
    });
    this.#incarnations = new RecordCache(this, kept.incarnations, {
      nameOf: (number) => number,
      keyOf: (number) => numberedKey(Table.incarnation, spaces.crawl, number),
      decode: (bytes, number) => decodeIncarnation(number, bytes),
      encode: encodeIncarnation,
    });
    this.#headers = new RecordCache(this, kept.headers, {
      nameOf: (space) => space.toString('latin1'),
      keyOf: (space) => keyOf(Table.header, space),
      decode: (bytes) => ({ count: bytes.readDoubleLE(0), next: bytes.readDoubleLE(8) }),
      encode: encodeHeader,
    });
    this.#counters = new RecordCache(this, kept.counters, {
      nameOf: (name) => name,
      keyOf: (name) => keyOf(Table.stat, spaces.stats, Buffer.from(name)),
      decode: (bytes) => bytes.readDoubleLE(0),
      encode: encodeNumber,
    });
  }

  // ── Live requests, by their number ────────────────────────────────────────────────────────────────────────

  /** A request as it is stored; undefined where none has this number. */
  request(number: number): Buffer | undefined {
    return this.get(this.#keyOfRequest(number));
  }

  /** `before` is the size it had, 0 for a new one. */
  putRequest(number: number, bytes: Buffer, before: number): void {
    this.put(this.#keyOfRequest(number), bytes, before);
  }

  deleteRequest(number: number, before: number): void {
    this.delete(this.#keyOfRequest(number), before);
  }

  /** The next one is written over it. */
  #keyOfRequest(number: number): Buffer {
    writeNumber(this.#requestKey, number);
    return this.#requestKey;
  }

  // ── Domains and incarnations ──────────────────────────────────────────────────────────────────────────────

  /** The domain, or null when it has no record. Who changes it keeps it. */
  domain(name: string): DomainEntry | null {
    return this.#domains.get(domainId(name));
  }

  /** The domain of a hash met in an index. */
  domainByHash(hash: Buffer): DomainEntry | null {
    return this.#domains.get(domainIdOf(hash));
  }

  keepDomain(domain: DomainEntry): void {
    this.#domains.keep(domain.id, domain);
  }

  protected forgetDomain(domain: DomainEntry): void {
    this.#domains.drop(domain.id);
  }

  /** An incarnation, or null when it is not registered. Who changes it keeps it. */
  incarnation(number: number): IncarnationEntry | null {
    return this.#incarnations.get(number);
  }

  keepIncarnation(entry: IncarnationEntry): void {
    this.#incarnations.keep(entry.number, entry);
  }

  dropIncarnation(number: number): void {
    this.#incarnations.drop(number);
  }

  /** All that are registered, the dead whose leases are not moved yet among them. */
  incarnations(): IncarnationEntry[] {
    const found = new Set(this.#incarnations.changed());
    for (const key of this.keys(keyOf(Table.incarnation, this.spaces.crawl), 100_000)) {
      const entry = this.incarnation(readUint53(key, HEAD_BYTES));
      if (entry !== null) found.add(entry);
    }
    return [...found];
  }

  /** The entries among which a dupefilter's marks lie: another crawl's where two share the dupefilter. */
  knownIn(space: Buffer): KnownIds {
    if (space.equals(this.spaces.crawl)) return this.known;
    if (this.#elsewhere === undefined || !this.#elsewhere[0].equals(space)) {
      this.#elsewhere?.[1].write();
      this.#elsewhere = [space, new KnownIds(this, space)];
    }
    return this.#elsewhere[1];
  }

  /** Write back what is known of ids. */
  writeKnown(): void {
    this.known.write();
    this.#elsewhere?.[1].write();
  }

  // ── Indexes, whose keys say all ───────────────────────────────────────────────────────────────────────────

  /** Up to `max` first keys of an index: a whole table, or the queue of a domain. @param start where they begin, if that is known. */
  firstOf(table: Table, max: number, queue?: DomainId, start?: Buffer): readonly Buffer[] {
    const { heads } = this.kept;
    const name = queue?.text ?? table;
    let head = heads.get(name);
    if (head === undefined) {
      if (heads.size >= MAX_HEADS) heads.clear();
      head = new IndexHead();
      heads.set(name, head);
    }
    return head.first(max, (asked) => {
      const { crawl } = this.spaces;
      return this.keys(
        queue === undefined ? keyOf(table, crawl) : keyOf(table, crawl, queue.hash),
        asked,
        start,
      );
    });
  }

  putIndexed(key: Buffer, queue?: DomainId): void {
    this.put(key, nothing, 0);
    this.#headOf(key, queue)?.add(key);
  }

  deleteIndexed(key: Buffer, queue?: DomainId): void {
    this.delete(key, 0);
    this.#headOf(key, queue)?.remove(key);
  }

  #headOf(key: Buffer, queue: DomainId | undefined): IndexHead | undefined {
    return this.kept.heads.get(queue?.text ?? key[0] ?? 0);
  }

  // ── Lists and statistics ──────────────────────────────────────────────────────────────────────────────────

  /** How much a list holds. */
  header(space: Buffer): Readonly<Header> {
    return this.#headers.get(space) ?? { count: 0, next: 0 };
  }

  changeHeader(space: Buffer): Header {
    const header = this.#headers.get(space) ?? { count: 0, next: 0 };
    this.#headers.keep(space, header);
    return header;
  }

  /** Forget a list that was wiped. */
  dropHeader(space: Buffer): void {
    this.#headers.drop(space);
  }

  /** Add to a statistic; every page adds to the same dozen, which a turn's pages then write once. */
  addCounter(name: string, added: number): void {
    const before = this.#counters.get(name);
    if (before === null) this.changeHeader(this.spaces.stats).count += 1;
    this.#counters.keep(name, (before ?? 0) + added);
  }

  /** Forget the statistics that were wiped. */
  dropCounters(): void {
    this.#counters.forget();
    this.dropHeader(this.spaces.stats);
  }

  /** Write back what was changed. */
  protected writeRecords(): void {
    this.writeKnown();
    this.#domains.write();
    this.#incarnations.write();
    this.#headers.write();
    this.#counters.write();
  }

  /** Forget the records of a crawl that is destroyed; its lists and statistics may outlive it. */
  protected forgetRecords(): void {
    this.#domains.forget();
    this.#incarnations.forget();
    this.kept.leased.clear();
  }

  override wipeSome(table: Table, space: Buffer, max: number): number {
    this.kept.heads.clear();
    if (table === Table.domain) this.#domains.forget();
    if (table === Table.incarnation) this.#incarnations.forget();
    if (table === Table.lease) this.kept.leased.clear();
    if (table === Table.known) this.known.forget();
    return super.wipeSome(table, space, max);
  }
}

function encodeNumber(number: number): Buffer {
  const encoded = Buffer.allocUnsafe(8);
  encoded.writeDoubleLE(number, 0);
  return encoded;
}

function encodeHeader({ count, next }: Header): Buffer {
  const encoded = Buffer.allocUnsafe(16);
  encoded.writeDoubleLE(count, 0);
  encoded.writeDoubleLE(next, 8);
  return encoded;
}
