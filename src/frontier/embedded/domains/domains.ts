/** The domains of a crawl: each is read once, changed in place, and written once a transaction. */
import { FURTHEST_MS, PROMOTED_AT_ONCE } from '../../types/limits.js';
import type { OpenCrawl } from '../base/open-crawl.js';
import { StoredRow } from '../file/rows.js';
import { plainText } from '../file/statements.js';
import { unreadableValue } from '../file/stored-json.js';
import { headOf, isBefore, type Order } from '../queue/order.js';
import { type DomainRow, newDomain, unreadableColumn } from './domain-row.js';
import { updateState } from './domain-state.js';

/** Domains that are kept in memory from one transaction to the next. */
const MOST_CACHED = 10_000;

export class Domains {
  readonly #crawl: OpenCrawl;
  readonly #loaded = new Map<string, StoredRow<DomainRow>>();
  /** Those that were changed since they were written. */
  readonly #changed = new Set<StoredRow<DomainRow>>();

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** A domain's row, to be read; null where there is none. */
  find(name: string): DomainRow | null {
    return this.#load(name)?.row ?? null;
  }

  /** A domain's row, to be changed; made where there is none. */
  change(name: string): DomainRow {
    let domain = this.#load(name);
    if (domain === null) {
      domain = this.#keep(new StoredRow(newDomain(this.#crawl.space, plainText(name)), true));
      this.#crawl.tally.domains += 1;
    }
    this.#changed.add(domain);
    return domain.row;
  }

  /** Update the head of a domain to which a pending request was added. */
  addPending(name: string, order: Order): void {
    const head = headOf(this.find(name));
    if (head !== null && !isBefore(order, head)) return;
    const domain = this.change(name);
    domain.head_rank = order.rank;
    domain.head_arrival = order.arrival;
  }

  /** The first ready domains in the order of their heads, at most `max`, to be read. */
  ready(max: number): DomainRow[] {
    this.finish();
    const names = this.#crawl.sql.all<{ name: string }>`
      SELECT name FROM domain WHERE space = ${this.#crawl.space} AND state = 'ready'
      ORDER BY head_rank, head_arrival LIMIT ${max}`;
    return names.map(({ name }) => this.find(name)!);
  }

  /**
   * Update the state of domains whose delay timer has run out, a bounded number. An instant that is too far ahead was stored
   * before the system clock was set back.
   */
  promoteWaiting(): void {
    this.finish();
    const { sql, space, nowMs } = this.#crawl;
    const due = sql.all<{ name: string }>`
      SELECT name FROM domain WHERE space = ${space} AND state = 'waiting' AND until <= ${nowMs}
      UNION ALL
      SELECT name FROM domain WHERE space = ${space} AND state = 'waiting' AND until > ${nowMs + FURTHEST_MS}
      LIMIT ${PROMOTED_AT_ONCE}`;
    for (const { name } of due) this.change(name);
  }

  /** When the first delay timer of a waiting domain runs out; null when none waits. */
  nextDueAtMs(): number | null {
    this.finish();
    return this.#crawl.sql.get<{ until: number | null }>`
      SELECT min(until) AS until FROM domain WHERE space = ${this.#crawl.space} AND state = 'waiting'`!.until;
  }

  /** Write every changed domain, with its state updated. */
  finish(): void {
    for (const domain of this.#changed) this.#write(domain);
    this.#changed.clear();
    if (this.#loaded.size > MOST_CACHED) this.#loaded.clear();
  }

  /** Drop everything read: the rows were deleted, or changed by a statement of their own. */
  forget(): void {
    this.#loaded.clear();
    this.#changed.clear();
  }

  #write(domain: StoredRow<DomainRow>): void {
    const { sql, crawl, tally, nowMs } = this.#crawl;
    const { row } = domain;
    if (!updateState(row, crawl, nowMs)) {
      domain.write(sql, 'domain', ['space', 'name']);
      return;
    }
    if (!domain.isNew) sql.run`DELETE FROM domain WHERE space = ${row.space} AND name = ${row.name}`;
    this.#loaded.delete(row.name);
    tally.domains -= 1;
  }

  #load(given: string): StoredRow<DomainRow> | null {
    const name = plainText(given);
    const loaded = this.#loaded.get(name);
    if (loaded !== undefined) return loaded;
    const { sql, space } = this.#crawl;
    const row = sql.get<DomainRow>`SELECT * FROM domain WHERE space = ${space} AND name = ${name}`;
    const unreadable = row === undefined ? undefined : unreadableColumn(row);
    if (unreadable !== undefined) throw unreadableValue('domain', unreadable);
    return row === undefined ? null : this.#keep(new StoredRow(row));
  }

  #keep(domain: StoredRow<DomainRow>): StoredRow<DomainRow> {
    this.#loaded.set(domain.row.name, domain);
    return domain;
  }
}
