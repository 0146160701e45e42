/**
 * One transaction on one crawl: what its verbs read and write. Counters and records are decoded once and written back
 * once at the end, however many verbs of a loop turn share the transaction; what it kept serves the next one too.
 */
import { FrontierGoneError } from '../../errors.js';
import { dataFormats } from '../data-format.js';
import type { Dupefilter } from '../frontier.js';
import { type DomainEntry, newDomain } from './domain-entry.js';
import { Kept } from './kept.js';
import { keyOf, numberOf, Table } from './keys.js';
import { newVersion } from './ledger.js';
import type { Memory } from './memory.js';
import { type FirstShape, formatOf, type Meta, newMeta } from './meta.js';
import { Records } from './records.js';
import { Seen } from './seen.js';
import { nameKey, type Spaces } from './spaces.js';
import { decodeState, emptyState, encodeState, openWork, type State } from './state.js';
import type { Store } from './tables.js';

export class Transaction extends Records {
  readonly nowMs = Date.now();
  readonly dupefilter: Seen;
  readonly #memory: Memory;
  #isStateDirty = false;
  #meta: Meta | undefined;
  #isMetaDirty = false;

  /** @param kept what the transaction before has left, where nothing was written in between. */
  constructor(db: Store, spaces: Spaces, memory: Memory, kept = new Kept()) {
    super(db, spaces, kept);
    this.#memory = memory;
    this.dupefilter = new Seen(this, spaces.dupefilter, this.nowMs, memory.seen, () =>
      this.#agreedDupefilter(),
    );
  }

  // ── The crawl ─────────────────────────────────────────────────────────────────────────────────────────────

  /** The crawl's counters, or undefined when there is no crawl. */
  peekState(): State | undefined {
    if (this.kept.state === undefined) {
      const bytes = this.get(keyOf(Table.state, this.spaces.crawl));
      this.kept.state = bytes === undefined ? null : decodeState(bytes);
    }
    return this.kept.state ?? undefined;
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
      this.kept.state = { ...emptyState(), busyAtMs: this.nowMs, numbers: this.lastNumber() };
      this.#isStateDirty = true;
      this.#meta = newMeta(shape);
      this.#isMetaDirty = true;
      this.list();
    } else if (
      state.accepted === 0 &&
      this.meta().shape === null &&
      this.meta().format === dataFormats.embedded
    ) {
      const { queueClass, dupefilter } = shape;
      Object.assign(this.changeMeta(), { queueClass, dupefilter });
    } else if (this.meta().dupefilter === null) {
      const meta = this.changeMeta();
      meta.dupefilter = shape.dupefilter;
      if (meta.shape !== null && shape.dupefilter !== null)
        meta.shape = { ...meta.shape, dupefilter: shape.dupefilter };
    }
  }

  /** Emptied under a live node, it goes on with the class that the nodes have; null before any is agreed. */
  #agreedDupefilter(): Dupefilter | null {
    const { dupefilter, shape } = this.meta();
    return dupefilter ?? shape?.dupefilter ?? null;
  }

  /** What a live node writes into after it was emptied is of the class that the nodes have, and no other may follow. */
  agreeOnDupefilter(): void {
    const { dupefilter, shape } = this.meta();
    if (dupefilter === null && shape !== null) this.changeMeta().dupefilter = shape.dupefilter;
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
    this.kept.state = null;
    this.#isStateDirty = false;
    this.#meta = undefined;
    this.#isMetaDirty = false;
    this.forgetRecords();
  }

  /** A strictly increasing number: a request's place among its equals. */
  takeArrival(): number {
    const state = this.state();
    state.lastArrival = Math.max(state.lastArrival + 1, this.nowMs * 1000);
    return state.lastArrival;
  }

  /** A number that no request has, above all that ever had one. */
  nextNumber(): number {
    const state = this.state();
    state.numbers += 1;
    return state.numbers;
  }

  /** The highest number of a live request; 0 for none. What a crawl of the same name left must not be written over. */
  lastNumber(): number {
    const [key] = this.lastKeys(keyOf(Table.request, this.spaces.crawl), 1);
    return key === undefined ? 0 : numberOf(key);
  }

  // ── Domains, counted ──────────────────────────────────────────────────────────────────────────────────────

  /** The domain, made when it has no record. */
  ensureDomain(name: string): DomainEntry {
    const known = this.domain(name);
    if (known !== null) return known;
    const domain = newDomain(name);
    this.state().domains += 1;
    this.keepDomain(domain);
    return domain;
  }

  dropDomain(domain: DomainEntry): void {
    this.state().domains -= 1;
    this.forgetDomain(domain);
  }

  // ── The end ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Write back what was changed. */
  finish(): void {
    this.dupefilter.finish();
    this.writeRecords();
    const { state } = this.kept;
    if (state === undefined || state === null) return;
    if (this.#isMetaDirty) {
      state.metaVersion = newVersion();
      this.put(keyOf(Table.meta, this.spaces.crawl), Buffer.from(JSON.stringify(this.#meta)));
    }
    if (!this.#isStateDirty) return;
    if (openWork(state) > 0) state.busyAtMs = this.nowMs;
    this.put(keyOf(Table.state, this.spaces.crawl), encodeState(state));
  }
}

function gone(): FrontierGoneError {
  return new FrontierGoneError(
    'the records of this crawl are gone from its folder: somebody reset it or deleted the folder under a live node',
  );
}
