/** The nodes of a crawl: each is read once, changed in place, and written once a transaction. */
import { IncarnationDeadError } from '../../../errors.js';
import type { OpenCrawl } from '../crawl/open-crawl.js';
import { updateRow, writeRow } from '../file/rows.js';
import type { NodeRow } from './node-row.js';

export class Nodes {
  readonly #crawl: OpenCrawl;
  /** With each row as it stands in the file. */
  readonly #loaded = new Map<number, { readonly row: NodeRow; written: NodeRow | null }>();

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** A node of this crawl, to be changed in place; null where there is none. */
  find(number: number): NodeRow | null {
    const loaded = this.#loaded.get(number);
    if (loaded !== undefined) return loaded.row;
    const { sql, space } = this.#crawl;
    const row = sql.get<NodeRow>`SELECT * FROM node WHERE number = ${number} AND space = ${space}`;
    if (row === undefined) return null;
    this.#loaded.set(number, { row, written: { ...row } });
    return row;
  }

  /** @throws IncarnationDeadError when the node is not registered, or declared dead. */
  requireAlive(number: number): NodeRow {
    this.#crawl.crawl;
    const row = this.find(number);
    if (row === null || row.is_dead === 1) {
      throw new IncarnationDeadError('this node was declared dead, or has not joined: it must join anew');
    }
    return row;
  }

  /** All that are registered, to be changed in place. */
  all(): NodeRow[] {
    if (!this.#crawl.hasCrawl) return [];
    this.finish();
    const { sql, space } = this.#crawl;
    for (const row of sql.all<NodeRow>`SELECT * FROM node WHERE space = ${space}`) {
      if (!this.#loaded.has(row.number)) this.#loaded.set(row.number, { row, written: { ...row } });
    }
    return [...this.#loaded.values()].map(({ row }) => row);
  }

  add(row: NodeRow): void {
    this.#loaded.set(row.number, { row, written: null });
  }

  drop(number: number): void {
    this.#loaded.delete(number);
    this.#crawl.sql.run`DELETE FROM node WHERE number = ${number}`;
  }

  /** Write what was changed. */
  finish(): void {
    for (const loaded of this.#loaded.values()) {
      if (loaded.written === null) writeRow(this.#crawl.sql, 'node', loaded.row);
      else updateRow(this.#crawl.sql, 'node', ['number'], loaded.row, loaded.written);
      loaded.written = { ...loaded.row };
    }
  }

  /** The crawl is gone, and its nodes with it. */
  forget(): void {
    this.#loaded.clear();
  }
}
