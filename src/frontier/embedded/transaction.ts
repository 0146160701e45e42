/**
 * One transaction on one crawl: what its verbs read and write. Counters, domains and incarnations are decoded once
 * and written back once at the end, however many verbs of a loop turn share the transaction.
 */
import { FrontierGoneError } from '../../errors.js';
import { DATA_FORMAT } from '../data-format.js';
import type { Dupefilter } from '../frontier.js';
import { type DomainEntry, decodeDomain, encodeDomain, newDomain } from './domain-entry.js';
import { decodeIncarnation, encodeIncarnation, type IncarnationEntry } from './incarnation-entry.js';
import { domainHash, HEAD_BYTES, keyOf, numberedKey, readUint53, Table } from './keys.js';
import { newVersion } from './ledger.js';
import type { Memory } from './memory.js';
import { type FirstShape, formatOf, type Meta, newMeta } from './meta.js';
import { RecordCache } from './record-cache.js';
import { Seen } from './seen.js';
import { nameKey, type Spaces } from './spaces.js';
import { decodeState, emptyState, encodeState, openWork, type State } from './state.js';
import { type Store, Tables } from './tables.js';

/** How much a list holds, and its next sequence. */
export interface Header {
  count: number;
  next: number;
}

export class Transaction extends Tables {
  readonly spaces: Spaces;
  readonly nowMs = Date.now();
  readonly dupefilter: Seen;
  readonly #memory: Memory;
  readonly #domains: RecordCache<Buffer, DomainEntry>;
  readonly #incarnations: RecordCache<number, IncarnationEntry>;
  readonly #headers: RecordCache<Buffer, Header>;
  #state: State | undefined;
  #isStateLoaded = false;
  #isStateDirty = false;
  #meta: Meta | undefined;
  #isMetaDirty = false;

  constructor(db: Store, spaces: Spaces, memory: Memory) {
    super(db);
    this.spaces = spaces;
    this.#memory = memory;
    this.dupefilter = new Seen(this, spaces.dupefilter, this.nowMs, memory.seen, () =>
      this.#agreedDupefilter(),
    );
    this.#domains = new RecordCache(this, {
      nameOf: (hash) => hash.toString('latin1'),
      keyOf: (hash) => keyOf(Table.domain, spaces.crawl, hash),
      decode: decodeDomain,
      encode: encodeDomain,
    });
    this.#incarnations = new RecordCache(this, {
      nameOf: (number) => number,
      keyOf: (number) => numberedKey(Table.incarnation, spaces.crawl, number),
      decode: (bytes, number) => decodeIncarnation(number, bytes),
      encode: encodeIncarnation,
    });
    this.#headers = new RecordCache(this, {
      nameOf: (space) => space.toString('latin1'),
      keyOf: (space) => keyOf(Table.header, space),
      decode: (bytes) => ({ count: bytes.readDoubleLE(0), next: bytes.readDoubleLE(8) }),
      encode: encodeHeader,
    });
  }

  // ── The crawl ─────────────────────────────────────────────────────────────────────────────────────────────

  /** The crawl's counters, or undefined when there is no crawl. */
  peekState(): State | undefined {
    if (!this.#isStateLoaded) {
      const bytes = this.get(keyOf(Table.state, this.spaces.crawl));
      this.#state = bytes === undefined ? undefined : decodeState(bytes);
      this.#isStateLoaded = true;
    }
    return this.#state;
  }

  /** The crawl's counters, to be changed. @throws FrontierGoneError when there is no crawl. */
  state(): State {
    const state = this.peekState();
    if (state === undefined) throw gone();
    if (!this.#isStateDirty && openWork(state) > 0) state.busyAtMs = this.nowMs;
    this.#isStateDirty = true;
    return state;
  }

  /** What the nodes share, to be read. @throws FrontierGoneError when there is no crawl. */
  meta(): Meta {
    if (this.#meta !== undefined) return this.#meta;
    const version = this.peekState()?.metaVersion;
    const key = keyOf(Table.meta, this.spaces.crawl);
    const meta = version === undefined ? undefined : this.#memory.meta.read(version, () => this.get(key));
    if (meta === undefined) throw gone();
    this.#meta = meta;
    return meta;
  }

  /** The data format the crawl is kept in; null where there is none. */
  format(): number | null {
    return formatOf(this.get(keyOf(Table.meta, this.spaces.crawl)));
  }

  /** What the nodes share, to be changed. */
  changeMeta(): Meta {
    this.state();
    if (!this.#isMetaDirty) {
      this.#meta = structuredClone(this.meta());
      this.#isMetaDirty = true;
    }
    return this.meta();
  }

  /** Make the crawl if there is none yet; one that has no request yet takes the shape of whoever comes. */
  create(shape: FirstShape): void {
    const state = this.peekState();
    if (state === undefined) {
      this.#state = { ...emptyState(), busyAtMs: this.nowMs };
      this.#isStateDirty = true;
      this.#meta = newMeta(shape);
      this.#isMetaDirty = true;
      this.list();
    } else if (state.accepted === 0 && this.meta().shape === null && this.meta().format === DATA_FORMAT) {
      const { queueClass, dupefilter } = shape;
      Object.assign(this.changeMeta(), { queueClass, dupefilter });
    } else if (this.meta().dupefilter === null) {
      const meta = this.changeMeta();
      meta.dupefilter = shape.dupefilter;
      if (meta.shape !== null && shape.dupefilter !== null)
        meta.shape = { ...meta.shape, dupefilter: shape.dupefilter };
    }
  }

  /** Emptied under a live node, it goes on with the class that the nodes have. */
  #agreedDupefilter(): Dupefilter {
    const { dupefilter, shape } = this.meta();
    const agreed = dupefilter ?? shape?.dupefilter;
    if (agreed === undefined) throw new Error('nothing is recorded before a dupefilter is agreed');
    return agreed;
  }

  /** Have the crawl listed among those of its folder. */
  list(): void {
    const key = nameKey(this.spaces.crawlName);
    if (!this.has(key)) this.put(key);
  }

  /** Forget the crawl itself; what else there is of it is the caller's business. */
  destroy(): void {
    this.delete(keyOf(Table.state, this.spaces.crawl));
    this.delete(keyOf(Table.meta, this.spaces.crawl));
    this.#state = undefined;
    this.#isStateDirty = false;
    this.#meta = undefined;
    this.#isMetaDirty = false;
    this.#domains.forget();
    this.#incarnations.forget();
  }

  /** A strictly increasing number: a request's place among its equals. */
  takeArrival(): number {
    const state = this.state();
    state.lastArrival = Math.max(state.lastArrival + 1, this.nowMs * 1000);
    return state.lastArrival;
  }

  // ── Domains and incarnations ──────────────────────────────────────────────────────────────────────────────

  /** The domain, or null when it has no record. Who changes it keeps it. */
  domain(name: string): DomainEntry | null {
    return this.#domains.get(domainHash(name));
  }

  /** The domain of a hash met in an index. */
  domainByHash(hash: Buffer): DomainEntry | null {
    return this.#domains.get(hash);
  }

  /** The domain, made when it has no record. */
  ensureDomain(name: string): DomainEntry {
    const known = this.domain(name);
    if (known !== null) return known;
    const domain = newDomain(name);
    this.state().domains += 1;
    this.keepDomain(domain);
    return domain;
  }

  keepDomain(domain: DomainEntry): void {
    this.#domains.keep(domainHash(domain.name), domain);
  }

  dropDomain(domain: DomainEntry): void {
    this.state().domains -= 1;
    this.#domains.drop(domainHash(domain.name));
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

  // ── Lists ──────────────────────────────────────────────────────────────────────────────

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

  // ── The end ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Write back what was changed. */
  finish(): void {
    this.dupefilter.finish();
    this.#domains.write();
    this.#incarnations.write();
    this.#headers.write();
    const state = this.#state;
    if (state === undefined) return;
    if (this.#isMetaDirty) {
      state.metaVersion = newVersion();
      this.put(keyOf(Table.meta, this.spaces.crawl), Buffer.from(JSON.stringify(this.#meta)));
    }
    if (!this.#isStateDirty) return;
    if (openWork(state) > 0) state.busyAtMs = this.nowMs;
    this.put(keyOf(Table.state, this.spaces.crawl), encodeState(state));
  }

  /** The transaction is committed: what it found may be remembered. */
  committed(): void {
    this.dupefilter.committed();
  }
}

function encodeHeader({ count, next }: Header): Buffer {
  const encoded = Buffer.allocUnsafe(16);
  encoded.writeDoubleLE(count, 0);
  encoded.writeDoubleLE(next, 8);
  return encoded;
}

function gone(): FrontierGoneError {
  return new FrontierGoneError(
    'the records of this crawl are gone from its folder: somebody reset it or deleted the folder under a live node',
  );
}
