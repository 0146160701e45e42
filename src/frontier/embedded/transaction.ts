/**
 * One transaction on one crawl: what its verbs read and write. Counters, domains and incarnations are decoded once
 * and written back once at the end, however many verbs of a loop turn share the transaction.
 */
import type { Database } from 'lmdb';
import { FrontierGoneError } from '../../errors.js';
import type { Shape } from '../frontier.js';
import type { FrontierKeys } from '../open.js';
import { type DomainEntry, decodeDomain, encodeDomain, newDomain } from './domain-entry.js';
import { decodeIncarnation, encodeIncarnation, type IncarnationEntry } from './incarnation-entry.js';
import {
  after,
  DOMAIN_BYTES,
  domainHash,
  HEAD_BYTES,
  keyOf,
  nothing,
  numberedKey,
  readUint53,
  spaceOf,
  Table,
} from './keys.js';
import { type Meta, newMeta } from './meta.js';
import { decodeState, emptyState, encodeState, openWork, type State } from './state.js';

/** The names of a crawl's keys, as the 6 bytes that stand for them. */
export interface Spaces {
  readonly crawlName: string;
  readonly crawl: Buffer;
  readonly dupefilter: Buffer;
  readonly startUrls: readonly { readonly name: string; readonly good: Buffer; readonly bad: Buffer }[];
  readonly items: Buffer;
  readonly stats: Buffer;
}

/** The spaces of the keys that the settings name. */
export function spacesOf(keys: FrontierKeys): Spaces {
  return {
    crawlName: keys.requests,
    crawl: spaceOf(keys.requests),
    dupefilter: spaceOf(keys.dupefilter),
    startUrls: keys.startUrls.map((name) => ({ name, good: spaceOf(name), bad: spaceOf(`${name}:bad`) })),
    items: spaceOf(keys.items),
    stats: spaceOf(keys.stats),
  };
}

/** A count and the next sequence of a list or dupefilter. */
export interface Header {
  count: number;
  next: number;
  bytes: number;
}

interface Cached<T> {
  readonly key: Buffer;
  value: T;
  dirty: boolean;
}

export type Store = Database<Buffer, Buffer>;

export class Transaction {
  readonly db: Store;
  readonly spaces: Spaces;
  readonly nowMs: number;
  /** Any write at all, so that a verb that fails half-way is told from one that refused before it wrote. */
  writes = 0;
  #state: State | undefined;
  #isStateLoaded = false;
  #isStateDirty = false;
  #meta: Meta | undefined;
  #isMetaDirty = false;
  readonly #metaCache: MetaCache;
  readonly #domains = new Map<string, Cached<DomainEntry | null>>();
  readonly #incarnations = new Map<number, Cached<IncarnationEntry | null>>();
  readonly #headers = new Map<string, Cached<Header>>();

  constructor(db: Store, spaces: Spaces, metaCache: MetaCache, nowMs = Date.now()) {
    this.db = db;
    this.spaces = spaces;
    this.#metaCache = metaCache;
    this.nowMs = nowMs;
  }

  // ── Raw entries ───────────────────────────────────────────────────────────────────────────────────────────

  get(key: Buffer): Buffer | undefined {
    return this.db.get(key);
  }

  has(key: Buffer): boolean {
    return this.db.doesExist(key);
  }

  put(key: Buffer, value: Buffer = nothing): void {
    this.writes += 1;
    this.db.putSync(key, value);
  }

  /** @returns whether it was there. */
  delete(key: Buffer): boolean {
    this.writes += 1;
    return this.db.removeSync(key);
  }

  /** The first key at or after `start` that begins with `prefix`. */
  first(prefix: Buffer, start: Buffer = prefix): Buffer | undefined {
    for (const key of this.db.getKeys({ start, limit: 1 })) {
      return startsWith(key, prefix) ? key : undefined;
    }
    return undefined;
  }

  /** Up to `max` keys that begin with `prefix`, in order, read before anything is changed. */
  keys(prefix: Buffer, max: number, start: Buffer = prefix): Buffer[] {
    return [...this.db.getKeys({ start, end: after(prefix), limit: max })];
  }

  /** Up to `max` entries that begin with `prefix`, in order. */
  entries(prefix: Buffer, max: number, start: Buffer = prefix): { key: Buffer; value: Buffer }[] {
    return [...this.db.getRange({ start, end: after(prefix), limit: max })];
  }

  /** All entries of a table and space, lazily; not to be mixed with writes. */
  scan(table: Table, space: Buffer): Iterable<{ key: Buffer; value: Buffer }> {
    const prefix = keyOf(table, space);
    return this.db.getRange({ start: prefix, end: after(prefix) });
  }

  /** Delete everything of a table and space. */
  wipe(table: Table, space: Buffer): void {
    const prefix = keyOf(table, space);
    for (;;) {
      const keys = this.keys(prefix, 1000);
      for (const key of keys) this.delete(key);
      if (keys.length < 1000) return;
    }
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
    if (this.#meta === undefined) {
      const state = this.peekState();
      if (state === undefined) throw gone();
      this.#meta = this.#metaCache.read(state.metaVersion, () =>
        this.get(keyOf(Table.meta, this.spaces.crawl)),
      );
    }
    return this.#meta;
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
    this.#isStateLoaded = true;
    this.#isStateDirty = false;
    this.#meta = undefined;
    this.#isMetaDirty = false;
    this.dropCaches();
  }

  /** Forget what was decoded, after its tables were wiped. */
  dropCaches(): void {
    this.#domains.clear();
    this.#incarnations.clear();
  }

  /** A strictly increasing number: a request's place among its equals. */
  takeArrival(): number {
    const state = this.state();
    state.lastArrival = Math.max(state.lastArrival + 1, this.nowMs * 1000);
    return state.lastArrival;
  }

  // ── Domains, incarnations, headers ────────────────────────────────────────────────────────────────────────

  /** The domain that may be changed, or null when it has no record. */
  domain(name: string): DomainEntry | null {
    return this.#domainCached(domainHash(name)).value;
  }

  /** The domain of a hash met in an index. */
  domainByHash(hash: Buffer): DomainEntry | null {
    return this.#domainCached(hash).value;
  }

  /** The domain, made when it has no record. */
  ensureDomain(name: string): DomainEntry {
    const cached = this.#domainCached(domainHash(name));
    if (cached.value === null) {
      cached.value = newDomain(name);
      this.state().domains += 1;
    }
    return cached.value;
  }

  keepDomain(domain: DomainEntry): void {
    this.#domainCached(domainHash(domain.name)).dirty = true;
  }

  dropDomain(domain: DomainEntry): void {
    const cached = this.#domainCached(domainHash(domain.name));
    if (cached.value === null) return;
    cached.value = null;
    cached.dirty = true;
    this.state().domains -= 1;
  }

  #domainCached(hash: Buffer): Cached<DomainEntry | null> {
    const name = hash.toString('latin1');
    let cached = this.#domains.get(name);
    if (cached === undefined) {
      const key = keyOf(Table.domain, this.spaces.crawl, hash);
      const bytes = this.get(key);
      cached = { key, value: bytes === undefined ? null : decodeDomain(bytes), dirty: false };
      this.#domains.set(name, cached);
    }
    return cached;
  }

  /** An incarnation to be read, or null when it is not registered. */
  incarnation(number: number): IncarnationEntry | null {
    return this.#incarnationCached(number).value;
  }

  keepIncarnation(entry: IncarnationEntry): void {
    const cached = this.#incarnationCached(entry.number);
    cached.value = entry;
    cached.dirty = true;
  }

  dropIncarnation(number: number): void {
    const cached = this.#incarnationCached(number);
    cached.value = null;
    cached.dirty = true;
  }

  /** All that are registered, the dead whose leases are not moved yet among them. */
  incarnations(): IncarnationEntry[] {
    const found: IncarnationEntry[] = [];
    for (const key of this.keys(keyOf(Table.incarnation, this.spaces.crawl), 10_000)) {
      const entry = this.incarnation(readUint53(key, HEAD_BYTES));
      if (entry !== null) found.push(entry);
    }
    for (const { value, dirty } of this.#incarnations.values()) {
      if (dirty && value !== null && !found.includes(value)) found.push(value);
    }
    return found;
  }

  #incarnationCached(number: number): Cached<IncarnationEntry | null> {
    let cached = this.#incarnations.get(number);
    if (cached === undefined) {
      const key = numberedKey(Table.incarnation, this.spaces.crawl, number);
      const bytes = this.get(key);
      cached = { key, value: bytes === undefined ? null : decodeIncarnation(number, bytes), dirty: false };
      this.#incarnations.set(number, cached);
    }
    return cached;
  }

  /** How much a list or dupefilter holds. */
  header(space: Buffer): Readonly<Header> {
    return this.#headerCached(space).value;
  }

  changeHeader(space: Buffer): Header {
    const cached = this.#headerCached(space);
    cached.dirty = true;
    return cached.value;
  }

  /** Forget a list or dupefilter that was wiped. */
  dropHeader(space: Buffer): void {
    this.delete(keyOf(Table.header, space));
    this.#headers.delete(space.toString('latin1'));
  }

  #headerCached(space: Buffer): Cached<Header> {
    const name = space.toString('latin1');
    let cached = this.#headers.get(name);
    if (cached === undefined) {
      const key = keyOf(Table.header, space);
      const bytes = this.get(key);
      const value =
        bytes === undefined
          ? { count: 0, next: 0, bytes: 0 }
          : { count: bytes.readDoubleLE(0), next: bytes.readDoubleLE(8), bytes: bytes.readDoubleLE(16) };
      cached = { key, value, dirty: false };
      this.#headers.set(name, cached);
    }
    return cached;
  }

  // ── The end ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Write back what was changed. @returns what to remember once it is committed. */
  finish(): void {
    for (const { key, value, dirty } of this.#domains.values()) {
      if (dirty) this.#write(key, value === null ? null : encodeDomain(value));
    }
    for (const { key, value, dirty } of this.#incarnations.values()) {
      if (dirty) this.#write(key, value === null ? null : encodeIncarnation(value));
    }
    for (const { key, value, dirty } of this.#headers.values()) {
      if (dirty) this.#write(key, encodeHeader(value));
    }
    const state = this.#state;
    if (state === undefined) return;
    if (this.#isMetaDirty) {
      // Random, so that a crawl of the same name after a reset never meets what another client remembers.
      state.metaVersion = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
      this.#write(keyOf(Table.meta, this.spaces.crawl), Buffer.from(JSON.stringify(this.#meta)));
    }
    if (this.#isStateDirty) {
      if (openWork(state) > 0) state.busyAtMs = this.nowMs;
      this.#write(keyOf(Table.state, this.spaces.crawl), encodeState(state));
    }
  }

  #write(key: Buffer, value: Buffer | null): void {
    if (value === null) this.delete(key);
    else this.put(key, value);
  }
}

/** The meta last read by this client, so that its JSON is parsed only when it has changed. */
export class MetaCache {
  #version = -1;
  #meta: Meta | undefined;

  read(version: number, load: () => Buffer | undefined): Meta {
    if (this.#meta === undefined || this.#version !== version) {
      const bytes = load();
      if (bytes === undefined) throw gone();
      this.#meta = JSON.parse(bytes.toString()) as Meta;
      this.#version = version;
    }
    return this.#meta;
  }
}

/** The key under which a crawl is listed. */
export function nameKey(name: string): Buffer {
  return keyOf(Table.names, Buffer.alloc(HEAD_BYTES - 1), Buffer.from(name));
}

/** The domain hash at `at` in a key. */
export function hashAt(key: Buffer, at: number): Buffer {
  return key.subarray(at, at + DOMAIN_BYTES);
}

function encodeHeader({ count, next, bytes }: Header): Buffer {
  const encoded = Buffer.allocUnsafe(24);
  encoded.writeDoubleLE(count, 0);
  encoded.writeDoubleLE(next, 8);
  encoded.writeDoubleLE(bytes, 16);
  return encoded;
}

function startsWith(key: Buffer, prefix: Buffer): boolean {
  return key.length >= prefix.length && key.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

function gone(): FrontierGoneError {
  return new FrontierGoneError(
    'the records of this crawl are gone from its folder: somebody reset it or deleted the folder under a live node',
  );
}
