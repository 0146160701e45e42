/**
 * One transaction on one crawl: what its verbs read and write. Counters, domains and incarnations are decoded once
 * and written back once at the end, however many verbs of a loop turn share the transaction.
 */
import { FrontierGoneError } from '../../errors.js';
import type { Shape } from '../frontier.js';
import { type DomainEntry, decodeDomain, encodeDomain, newDomain } from './domain-entry.js';
import { decodeIncarnation, encodeIncarnation, type IncarnationEntry } from './incarnation-entry.js';
import { domainHash, HEAD_BYTES, keyOf, numberedKey, readUint53, Table } from './keys.js';
import type { Memory } from './memory.js';
import { type Meta, newMeta } from './meta.js';
import { RecordCache } from './record-cache.js';
import { nameKey, type Spaces } from './spaces.js';
import { decodeState, emptyState, encodeState, openWork, type State } from './state.js';
import { type Store, Tables } from './tables.js';

/** How much a list or dupefilter holds, and the next sequence of the list or the version of the dupefilter. */
export interface Header {
  count: number;
  next: number;
}

export class Transaction extends Tables {
  readonly spaces: Spaces;
  readonly nowMs = Date.now();
  readonly #memory: Memory;
  readonly #domains: RecordCache<Buffer, DomainEntry>;
  readonly #incarnations: RecordCache<number, IncarnationEntry>;
  readonly #headers: RecordCache<Buffer, Header>;
  readonly #newlySeen: string[] = [];
  #state: State | undefined;
  #isStateLoaded = false;
  #isStateDirty = false;
  #meta: Meta | undefined;
  #isMetaDirty = false;

  constructor(db: Store, spaces: Spaces, memory: Memory) {
    super(db);
    this.spaces = spaces;
    this.#memory = memory;
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

  /** What the nodes share, to be changed. */
  changeMeta(): Meta {
    this.state();
    if (!this.#isMetaDirty) {
      this.#meta = structuredClone(this.meta());
      this.#isMetaDirty = true;
    }
    return this.meta();
  }

  /** Make the crawl if there is none yet. */
  create(queueClass: Shape['queueClass']): void {
    if (this.peekState() !== undefined) return;
    this.#state = { ...emptyState(), busyAtMs: this.nowMs };
    this.#isStateDirty = true;
    this.#meta = newMeta(queueClass);
    this.#isMetaDirty = true;
    this.list();
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

  // ── Lists and the dupefilter ──────────────────────────────────────────────────────────────────────────────

  /** How much a list or dupefilter holds. */
  header(space: Buffer): Readonly<Header> {
    return this.#headers.get(space) ?? { count: 0, next: 0 };
  }

  changeHeader(space: Buffer): Header {
    const header = this.#headers.get(space) ?? { count: 0, next: 0 };
    this.#headers.keep(space, header);
    return header;
  }

  /** Forget a list or dupefilter that was wiped. */
  dropHeader(space: Buffer): void {
    this.#headers.drop(space);
  }

  /** Whether the dupefilter has seen a fingerprint. */
  isSeen(fingerprint: string): boolean {
    const { next } = this.header(this.spaces.dupefilter);
    if (this.#memory.seen.has(next, fingerprint)) return true;
    if (!this.has(this.#seenKey(fingerprint))) return false;
    this.#newlySeen.push(fingerprint);
    return true;
  }

  /** Record a fingerprint that was not seen. */
  see(fingerprint: string): void {
    this.put(this.#seenKey(fingerprint));
    const header = this.changeHeader(this.spaces.dupefilter);
    header.count += 1;
    if (header.next === 0) header.next = newVersion();
    this.#newlySeen.push(fingerprint);
  }

  /** What clients remember of the dupefilter is void from now on. */
  voidSeen(): void {
    this.changeHeader(this.spaces.dupefilter).next = newVersion();
    this.#newlySeen.length = 0;
  }

  #seenKey(fingerprint: string): Buffer {
    return keyOf(Table.seen, this.spaces.dupefilter, Buffer.from(fingerprint, 'hex'));
  }

  // ── The end ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Write back what was changed. */
  finish(): void {
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
    const { next } = this.header(this.spaces.dupefilter);
    if (next !== 0) this.#memory.seen.add(next, this.#newlySeen);
  }
}

function encodeHeader({ count, next }: Header): Buffer {
  const encoded = Buffer.allocUnsafe(16);
  encoded.writeDoubleLE(count, 0);
  encoded.writeDoubleLE(next, 8);
  return encoded;
}

/** Random, so that what was begun anew never has a version that a client remembers; never 0. */
function newVersion(): number {
  return 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
}

function gone(): FrontierGoneError {
  return new FrontierGoneError(
    'the records of this crawl are gone from its folder: somebody reset it or deleted the folder under a live node',
  );
}
