/** The domains of a crawl within one transaction: each is read once, changed in place, and written once. */
import type { OpenCrawl } from '../open-crawl.js';
import { plainText } from '../plain-text.js';
import { columnsOf, writeRow } from '../rows.js';
import type { Value } from '../sqlite.js';
import { rowOf } from '../statements.js';
import { type DomainRow, FURTHEST_MS, newDomain, updateState } from './domain-row.js';
import { isBefore, type Order } from './order.js';

interface Loaded {
  readonly row: DomainRow;
  /** The row in the file; null where there is none. */
  written: DomainRow | null;
}

export class Domains {
  readonly #crawl: OpenCrawl;
  readonly #loaded = new Map<string, Loaded>();
  /** Those that were changed since they were written. */
  readonly #changed = new Set<Loaded>();

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** A domain's row, to be read; null where there is none. */
  find(name: string): DomainRow | null {
    return this.#load(name)?.row ?? null;
  }

  /** A domain's row, to be changed; made where there is none. */
  change(name: string): DomainRow {
    let loaded = this.#load(name);
    if (loaded === null) {
      loaded = { row: newDomain(this.#crawl.space, plainText(name)), written: null };
      this.#loaded.set(loaded.row.name, loaded);
      this.#crawl.tally.domains += 1;
    }
    this.#changed.add(loaded);
    return loaded.row;
  }

  /** Update the head of a domain to which a pending request was added. */
  addPending(name: string, order: Order): void {
    const domain = this.change(name);
    if (
      domain.head_rank !== null &&
      !isBefore(order, { rank: domain.head_rank, arrival: domain.head_arrival! })
    )
      return;
    domain.head_rank = order.rank;
    domain.head_arrival = order.arrival;
  }

  /** The ready domain with the best head, to be changed, and the head of the next best one, its rival. */
  firstReady(): { readonly domain: DomainRow; readonly rival: Order | null } | null {
    this.finish();
    const [first, second] = this.#crawl.sql.all<{ name: string; head_rank: number; head_arrival: number }>`
      SELECT name, head_rank, head_arrival FROM domain WHERE space = ${this.#crawl.space} AND state = 'ready'
      ORDER BY head_rank, head_arrival LIMIT 2`;
    if (first === undefined) return null;
    const rival = second === undefined ? null : { rank: second.head_rank, arrival: second.head_arrival };
    return { domain: this.change(first.name), rival };
  }

  /** Update the state of domains whose delay timer has run out, at most `max` of each state. */
  promote(max: number): void {
    this.finish();
    const { sql, space, nowMs } = this.#crawl;
    const due = [];
    for (const state of ['waiting', 'idle']) {
      due.push(
        ...sql.all<{ name: string }>`SELECT name FROM domain WHERE space = ${space} AND state = ${state}
          AND until IS NOT NULL AND until <= ${nowMs} LIMIT ${max}`,
      );
    }
    // An instant so far ahead was stored before the system clock was set back.
    due.push(
      ...sql.all<{ name: string }>`SELECT name FROM domain WHERE space = ${space} AND state = 'waiting'
        AND until IS NOT NULL AND until > ${nowMs + FURTHEST_MS} LIMIT ${max}`,
    );
    for (const { name } of due) this.change(name);
  }

  /** When the first waiting domain may be leased from again; null when none waits. */
  nextDueAtMs(): number | null {
    this.finish();
    const row = this.#crawl.sql.get<{ until: number }>`
      SELECT until FROM domain WHERE space = ${this.#crawl.space} AND state = 'waiting' AND until IS NOT NULL
      ORDER BY until LIMIT 1`;
    return row?.until ?? null;
  }

  /** Write every changed domain, with its state updated. */
  finish(): void {
    for (const loaded of this.#changed) this.#write(loaded);
    this.#changed.clear();
  }

  /** Drop everything read: the crawl was deleted. */
  forget(): void {
    this.#loaded.clear();
    this.#changed.clear();
  }

  #write(loaded: Loaded): void {
    const { sql, crawl, tally, nowMs } = this.#crawl;
    const { row, written } = loaded;
    if (updateState(row, crawl, nowMs)) {
      if (written !== null) sql.run`DELETE FROM domain WHERE space = ${row.space} AND name = ${row.name}`;
      this.#loaded.delete(row.name);
      tally.domains -= 1;
      return;
    }
    const isIndexChanged =
      written === null ||
      written.state !== row.state ||
      written.until !== row.until ||
      written.head_rank !== row.head_rank ||
      written.head_arrival !== row.head_arrival;
    if (isIndexChanged) writeRow(sql, 'domain', row);
    else {
      // Only columns without an index have changed, as after nearly every settle.
      sql.run`UPDATE domain SET active = ${row.active}, next_at = ${row.next_at}, blocked_until = ${row.blocked_until},
        last_at = ${row.last_at}, delay_setting = ${row.delay_setting}, delay_robots = ${row.delay_robots},
        delay_auto = ${row.delay_auto}, pages = ${row.pages} WHERE space = ${row.space} AND name = ${row.name}`;
    }
    loaded.written = { ...row };
  }

  #load(given: string): Loaded | null {
    const name = plainText(given);
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    const { sql, space } = this.#crawl;
    const statement = sql.of('SELECT * FROM domain WHERE space = ? AND name = ?', (it) =>
      it.setReturnArrays(true),
    );
    const values = statement.get(space, name) as Value[] | undefined;
    if (values === undefined) return null;
    const row = rowOf<DomainRow>(columnsOf(sql, 'domain'), values);
    const loaded = { row, written: { ...row } };
    this.#loaded.set(name, loaded);
    return loaded;
  }
}
