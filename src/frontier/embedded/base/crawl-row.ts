/** The two rows of a crawl: what its nodes share, and its counters. Columns are explained in `schema.sql`. */
import { randomBytes } from 'node:crypto';
import { noBudgets } from '../../budgets.js';
import { dataFormats } from '../../data-format.js';
import type { Budgets, Control, Dupefilter, Shape, Tunables } from '../../frontier.js';
import type { RunArguments } from '../../shared-settings/run-arguments.js';
import { FIRST_CONCURRENCY, FIRST_FAILED_LIMIT, FIRST_NODE_TIMEOUT_MS } from '../../types/limits.js';
import { writeRow } from '../file/rows.js';
import type { Statements } from '../file/statements.js';
import { storedJson, unreadableValue } from '../file/stored-json.js';

export type Flag = 0 | 1;

/** Longer than any name that settings make. Each verb reads that of its crawl. */
export const MAX_NAME_BYTES = 4_096;

export interface CrawlRow {
  readonly space: number;
  readonly name: string;
  readonly format: number;
  crawl_id: string;
  epoch: number;
  shape: Shape | null;
  queue_class: Shape['queueClass'];
  dupefilter: Dupefilter | null;
  control: Control;
  repairing: Control | null;
  /** `isGuess`: those of the nodes could not be read. */
  tunables: Tunables & { readonly isGuess?: true };
  has_start: Flag;
  starts: Starts;
  starts_again: Flag;
  start_owner: number | null;
  has_idle: Flag;
  run: Run | null;
  began_at: number;
  seen_since: number;
  feeds: readonly string[];
  restoring: string | null;
  restore_applied: number;
  restored_from: string | null;
}

/** Columns that hold JSON. Their values are replaced, never changed in place. */
const jsonColumns = ['shape', 'dupefilter', 'tunables', 'starts', 'run', 'feeds'] as const;

/** How many start requests were pushed, or all of them. */
export type Start = number | 'pushed';

/** By `startKey`; one that is not there has pushed none. */
export type Starts = Readonly<Record<string, Start>>;

/** A run of a crawl. Nodes are named by their numbers. */
export interface Run {
  readonly id: string;
  /** `-a name=value`, by name. */
  readonly args: RunArguments;
  readonly startedAtMs: number;
  readonly budgets: Budgets;
  /** The counters of the crawl that it began with. */
  readonly counters: Readonly<Record<string, number>>;
  /** Why the run leases nothing more; null: it does. `limit`: the budget that closed it, else 0. */
  readonly closing: { readonly reason: string; readonly atMs: number; readonly limit: number } | null;
  /** Why the run ended, with its last node; null while it goes on. */
  readonly closed: { readonly reason: string; readonly atMs: number } | null;
  /** The node that asks the hooks for an idle crawl now, and `run_leased` when it began. */
  readonly asking: { readonly node: number; readonly leased: number } | null;
  /** When the hooks gave nothing last, and `run_leased` then. */
  readonly asked: { readonly atMs: number; readonly leased: number } | null;
}

const noCounts = {
  pending: 0,
  suspects: 0,
  delayed: 0,
  leased: 0,
  failed: 0,
  accepted: 0,
  done: 0,
  removed: 0,
  lost: 0,
  seen_gone: 0,
  failed_records: 0,
  early_pages: 0,
  domains: 0,
  last_arrival: 0,
  tokens: 0,
  volunteer: 0,
  killed_at: 0,
  killed_before: 0,
  hungry: 0,
  hungry_at: 0,
  busy_at: 0,
  stall_since: 0,
  stall_owner: 0,
  stall_tried: 0,
  stall_drains: 0,
  records_looked: 0,
  run_leased: 0,
  run_items: 0,
  run_errors: 0,
  run_failed: 0,
  run_accepted: 0,
  run_error_pages: 0,
  clock_at: 0,
  clock_ahead: 0,
  run_good_pages: 0,
  cookie_version: 0,
  cookie_floor: 0,
  stored_bytes: 0,
};

export type TallyRow = { readonly space: number } & typeof noCounts;

/** What of a shape is decided with the first request, before any node has joined. */
export interface FirstShape {
  readonly queueClass: Shape['queueClass'];
  readonly dupefilter: Dupefilter | null;
}

/** The tunables until a first node joins: the settings' defaults. */
const firstTunables: Tunables = {
  delayMs: 0,
  randomizeDelay: true,
  concurrencyPerDomain: FIRST_CONCURRENCY,
  nodeTimeoutMs: FIRST_NODE_TIMEOUT_MS,
  failedLimit: FIRST_FAILED_LIMIT,
  queueLimit: 0,
  memoryLimit: 0,
  pagesPerDomain: 0,
  slots: null,
  autothrottle: null,
};

/** In place of tunables that do not read: slow, until a node asks for requests, which brings its own. */
export const cautiousTunables = {
  ...firstTunables,
  ...{ delayMs: 5_000, concurrencyPerDomain: 1, isGuess: true },
};

/** Write the row of a crawl that begins. */
export function writeNewCrawl(
  sql: Statements,
  { id: space, name }: { readonly id: number; readonly name: string },
  { queueClass, dupefilter }: FirstShape,
  nowMs: number,
): void {
  const crawl_id = randomBytes(8).toString('hex');
  const epoch = randomBytes(6).readUIntBE(0, 6);
  writeRow(sql, 'crawl', {
    ...{ space, name, format: dataFormats.embedded, crawl_id, epoch, queue_class: queueClass, dupefilter },
    ...{ tunables: firstTunables, began_at: nowMs, seen_since: nowMs },
  });
}

/** The row of a crawl; undefined where there is none. */
export function readCrawl(sql: Statements, space: number): CrawlRow | undefined {
  const row = sql.get<Record<string, unknown>>`SELECT * FROM crawl WHERE space = ${space}`;
  if (row === undefined) return undefined;
  for (const column of jsonColumns) row[column] = storedJson(row[column] as string | null, 'crawl', column);
  const crawl = row as unknown as CrawlRow;
  const { name, run, tunables } = crawl;
  if (name.length > MAX_NAME_BYTES) throw unreadableValue('crawl', 'name');
  if (!hasNumbers(tunables, firstTunables)) throw unreadableValue('crawl', 'tunables');
  if (run !== null && !hasNumbers(run.budgets, noBudgets)) throw unreadableValue('crawl', 'run');
  return crawl;
}

/** Whether an object has a number for each that the other one has. */
function hasNumbers(found: object | null | undefined, wanted: object): boolean {
  const names = Object.entries(wanted).flatMap(([name, value]) => (typeof value === 'number' ? [name] : []));
  return names.every(
    (name) => typeof (found as Record<string, unknown> | null | undefined)?.[name] === 'number',
  );
}

/** The counters of a crawl with nothing in it. */
export function newTally(space: number, nowMs: number): TallyRow {
  return { space, ...noCounts, busy_at: nowMs };
}

/** What is left to do, leased or not. */
export function openWork({ pending, suspects, delayed, leased }: TallyRow): number {
  return pending + suspects + delayed + leased;
}
