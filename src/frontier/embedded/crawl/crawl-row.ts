/** The two rows of a crawl: what its nodes share, and its counters. Columns are explained in `schema.sql`. */
import { randomBytes } from 'node:crypto';
import { dataFormats } from '../../data-format.js';
import type { AutoThrottle, Budgets, Control, Dupefilter, Shape, Tunables } from '../../frontier.js';
import { dupefilterText } from '../../shared-settings/shape-differences.js';
import { parseTunable, tunableText } from '../../shared-settings/tunable-text.js';

export type Flag = 0 | 1;

export interface CrawlRow {
  readonly space: number;
  format: number;
  crawl_id: string;
  epoch: number;
  shape: string | null;
  queue_class: Shape['queueClass'];
  dupefilter: string | null;
  control: Control;
  repairing: Control | null;
  delay_ms: number;
  randomize_delay: Flag;
  concurrency: number;
  node_timeout_ms: number;
  failed_limit: number;
  queue_limit: number;
  pages_per_domain: number;
  slots: string;
  autothrottle: string;
  has_start: Flag;
  starts: string;
  start_owner: number | null;
  has_idle: Flag;
  idle_owner: number | null;
  idle_pages: number;
  idle_asked: number | null;
  idle_asked_at: number;
  run_id: string | null;
  run_args: string;
  run_started_at: number;
  max_pages: number;
  max_items: number;
  max_errors: number;
  max_run_ms: number;
  closing: string | null;
  closing_at: number;
  closing_limit: number;
  closed: string | null;
  closed_at: number;
  began_at: number;
  seen_since: number;
  restoring: string | null;
  restore_applied: number;
  restored_from: string | null;
}

const counters = [
  'pending',
  'suspects',
  'delayed',
  'leased',
  'failed',
  'accepted',
  'done',
  'removed',
  'lost',
  'failed_records',
  'domains',
  'last_arrival',
  'tokens',
  'alive',
  'volunteer',
  'killed_at',
  'killed_before',
  'hungry',
  'hungry_at',
  'busy_at',
  'run_pages',
  'run_items',
  'run_errors',
  'run_failed',
  'run_accepted',
  'cookie_version',
  'cookie_floor',
] as const;

export type TallyRow = { readonly space: number } & { [counter in (typeof counters)[number]]: number };

/** What of a shape is decided with the first request, before any node has joined. */
export interface FirstShape {
  readonly queueClass: Shape['queueClass'];
  readonly dupefilter: Dupefilter | null;
}

/** A crawl that begins. The tunables, until a first node joins, are the settings' defaults. */
export function newCrawl(space: number, { queueClass, dupefilter }: FirstShape, nowMs: number): CrawlRow {
  return {
    space,
    format: dataFormats.embedded,
    crawl_id: randomBytes(8).toString('hex'),
    epoch: randomBytes(6).readUIntBE(0, 6),
    shape: null,
    queue_class: queueClass,
    dupefilter: dupefilter === null ? null : dupefilterText(dupefilter),
    control: 'running',
    repairing: null,
    delay_ms: 0,
    randomize_delay: 1,
    concurrency: 8,
    node_timeout_ms: 30_000,
    failed_limit: 100_000,
    queue_limit: 0,
    pages_per_domain: 0,
    slots: '',
    autothrottle: '',
    has_start: 0,
    starts: '{}',
    start_owner: null,
    has_idle: 0,
    idle_owner: null,
    idle_pages: 0,
    idle_asked: null,
    idle_asked_at: 0,
    run_id: null,
    run_args: '',
    run_started_at: 0,
    max_pages: 0,
    max_items: 0,
    max_errors: 0,
    max_run_ms: 0,
    closing: null,
    closing_at: 0,
    closing_limit: 0,
    closed: null,
    closed_at: 0,
    began_at: nowMs,
    seen_since: nowMs,
    restoring: null,
    restore_applied: 0,
    restored_from: null,
  };
}

/** The counters of a crawl with nothing in it. */
export function newTally(space: number, nowMs: number): TallyRow {
  const zeros = Object.fromEntries(counters.map((counter) => [counter, 0])) as Omit<TallyRow, 'space'>;
  return { ...zeros, space, busy_at: nowMs };
}

/** A new run that begins now. */
export function beginRun(crawl: CrawlRow, tally: TallyRow, budgets: Budgets, nowMs: number): void {
  Object.assign(crawl, {
    run_id: randomBytes(8).toString('hex'),
    run_started_at: nowMs,
    closing: null,
    closing_at: 0,
    closing_limit: 0,
    closed: null,
    closed_at: 0,
    idle_owner: null,
    idle_asked: null,
  });
  setBudgets(crawl, budgets);
  const counted = { run_pages: 0, run_items: 0, run_errors: 0, run_failed: 0, run_accepted: 0 };
  Object.assign(tally, { ...counted, busy_at: nowMs });
}

export function budgetsOf(crawl: CrawlRow): Budgets {
  return {
    maxPages: crawl.max_pages,
    maxItems: crawl.max_items,
    maxErrors: crawl.max_errors,
    maxRunMs: crawl.max_run_ms,
  };
}

export function setBudgets(crawl: CrawlRow, { maxPages, maxItems, maxErrors, maxRunMs }: Budgets): void {
  crawl.max_pages = maxPages;
  crawl.max_items = maxItems;
  crawl.max_errors = maxErrors;
  crawl.max_run_ms = maxRunMs;
}

export function tunablesOf(crawl: CrawlRow): Tunables {
  return {
    delayMs: crawl.delay_ms,
    randomizeDelay: crawl.randomize_delay === 1,
    concurrencyPerDomain: crawl.concurrency,
    nodeTimeoutMs: crawl.node_timeout_ms,
    failedLimit: crawl.failed_limit,
    queueLimit: crawl.queue_limit,
    pagesPerDomain: crawl.pages_per_domain,
    slots: parseTunable<NonNullable<Tunables['slots']>>(crawl.slots),
    autothrottle: parseTunable<AutoThrottle>(crawl.autothrottle),
  };
}

export function setTunables(crawl: CrawlRow, tunables: Tunables): void {
  crawl.delay_ms = tunables.delayMs;
  crawl.randomize_delay = tunables.randomizeDelay ? 1 : 0;
  crawl.concurrency = tunables.concurrencyPerDomain;
  crawl.node_timeout_ms = tunables.nodeTimeoutMs;
  crawl.failed_limit = tunables.failedLimit;
  crawl.queue_limit = tunables.queueLimit;
  crawl.pages_per_domain = tunables.pagesPerDomain;
  crawl.slots = tunableText(tunables.slots);
  crawl.autothrottle = tunableText(tunables.autothrottle);
}

/** What the nodes share; null until a first one has joined. */
export function shapeOf({ shape }: CrawlRow): Shape | null {
  return shape === null ? null : (JSON.parse(shape) as Shape);
}

/** The dupefilter agreed on: emptied under live nodes, a crawl goes on with the class that they have. */
export function agreedDupefilter(crawl: CrawlRow): Dupefilter | null {
  if (crawl.dupefilter !== null) return JSON.parse(crawl.dupefilter) as Dupefilter;
  return shapeOf(crawl)?.dupefilter ?? null;
}

/** What is left to do, leased or not. */
export function openWork({ pending, suspects, delayed, leased }: TallyRow): number {
  return pending + suspects + delayed + leased;
}
