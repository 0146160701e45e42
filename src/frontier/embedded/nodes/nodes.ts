/** The nodes of a crawl: read once, changed in place, and written once a transaction. */
import { IncarnationDeadError } from '../../../errors.js';
import type { OpenCrawl } from '../base/open-crawl.js';
import { isGone } from '../file/processes.js';
import { StoredRow } from '../file/rows.js';
import { deleteText } from '../telemetry/texts.js';
import { incarnationName, type NodeRow } from './node-row.js';

export class Nodes {
  readonly #crawl: OpenCrawl;
  /** By number; null before they are read. */
  #loaded: Map<number, StoredRow<NodeRow>> | null = null;

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** A node of this crawl, to be changed in place; null where there is none. */
  find(number: number): NodeRow | null {
    return this.#load().get(number)?.row ?? null;
  }

  /** The same; null also where it was declared dead. */
  findAlive(number: number): NodeRow | null {
    const node = this.find(number);
    return node?.is_dead === 0 ? node : null;
  }

  /** @throws IncarnationDeadError when the node is not registered, or declared dead. */
  requireAlive(number: number): NodeRow {
    this.#crawl.crawl;
    const node = this.findAlive(number);
    if (node !== null) return node;
    throw new IncarnationDeadError('this node was declared dead, or has not joined: it must join anew');
  }

  /** All that are registered, to be changed in place. */
  all(): NodeRow[] {
    if (!this.#crawl.hasCrawl) return [];
    return [...this.#load().values()].map(({ row }) => row);
  }

  /** All that are alive: with a heartbeat within the node timeout, and a process that still runs. */
  live(): NodeRow[] {
    return this.all().filter((node) => this.isAlive(node));
  }

  /** Whether a node shows signs of life; declaring it dead is the business of recovery. */
  isAlive({ is_dead, beat_at, pid, process_start }: NodeRow): boolean {
    const { nowMs, crawl } = this.#crawl;
    if (is_dead === 1 || nowMs - beat_at >= crawl.tunables.nodeTimeoutMs) return false;
    return !isGone(pid, process_start);
  }

  /** How many are not declared dead. */
  get count(): number {
    return this.all().filter(({ is_dead }) => is_dead === 0).length;
  }

  /** Update the heartbeat time of a node whose process cannot be checked. */
  showLife(node: NodeRow): void {
    if (node.process_start === null) node.beat_at = this.#crawl.nowMs;
  }

  add(row: NodeRow): void {
    this.#load().set(row.number, new StoredRow(row, true));
  }

  drop(number: number): void {
    const node = this.find(number);
    if (node !== null) deleteText(this.#crawl, `node:${incarnationName(node.id, number)}`);
    this.#load().delete(number);
    this.#crawl.sql.run`DELETE FROM node WHERE number = ${number}`;
  }

  /** Write what was changed. */
  finish(): void {
    if (this.#crawl.hasLeapt) this.all();
    for (const node of this.#loaded?.values() ?? []) node.write(this.#crawl.sql, 'node', ['number']);
  }

  /** Drop everything read: the nodes are gone. */
  forget(): void {
    this.#loaded = null;
  }

  /** Heartbeats count from now, since all look old. A process that was killed is told by its pid. */
  #hearAll(nodes: Map<number, StoredRow<NodeRow>>): void {
    this.#crawl.hasLeapt = false;
    for (const { row } of nodes.values()) if (row.is_dead === 0) row.beat_at = this.#crawl.nowMs;
  }

  #load(): Map<number, StoredRow<NodeRow>> {
    const { sql, space } = this.#crawl;
    this.#loaded ??= new Map(
      sql.all<NodeRow>`SELECT * FROM node WHERE space = ${space}`.map((row) => [
        row.number,
        new StoredRow(row),
      ]),
    );
    if (this.#crawl.hasLeapt) this.#hearAll(this.#loaded);
    return this.#loaded;
  }
}
