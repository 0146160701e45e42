/** What all nodes of a crawl share and seldom change; a JSON text beside the counters. */
import { randomBytes } from 'node:crypto';
import { dataFormats } from '../data-format.js';
import type { Budgets, Control, Dupefilter, Shape, Tunables } from '../frontier.js';

export interface Run {
  readonly id: string;
  readonly startedAtMs: number;
  budgets: Budgets;
  /** Why nothing more is leased: the nodes drain and leave. */
  closing: string | null;
  closingAtMs: number;
  /** Of the budget that closed it. */
  closingLimit: number;
  /** Why it ended, once the last node has left. */
  closed: string | null;
  closedAtMs: number;
}

export interface Meta {
  readonly format: number;
  /** Tells this crawl from one of the same name before a reset. */
  readonly crawl: string;
  /** Random at first, so that it never equals one from before a reset; raised when fingerprints are forgotten. */
  epoch: number;
  /** Null until a first node joins. */
  shape: Shape | null;
  /** The order the stored requests are in; with the shape it stands, before by the first push. */
  queueClass: Shape['queueClass'];
  /** What records the accepted, decided likewise; null when it was emptied alone: the next to come may choose another. */
  dupefilter: Dupefilter | null;
  tunables: Tunables;
  hasStart: boolean;
  startPushed: boolean;
  /** How many of the start requests were pushed, while it takes several pushes. */
  startCount: number;
  control: Control;
  /** The control before a repair that is under way, or broke off. */
  repairing?: Control;
  run: Run | null;
  /** When the crawl began, and since when its dupefilter records fingerprints. */
  beganAtMs: number;
  seenSinceMs: number;
  /** The restore under way, with the number of its last entry applied; its id is empty once it cannot go on. */
  restoring: { readonly id: string; readonly applied: number } | null;
  /** The restore that was ended last, unless something was cleared since. */
  restoredFrom: string | null;
}

/** Tunables until a first node joins: the settings' defaults. */
const firstTunables: Tunables = {
  delayMs: 0,
  randomizeDelay: true,
  concurrencyPerDomain: 8,
  nodeTimeoutMs: 30_000,
  failedLimit: 100_000,
  queueLimit: 0,
};

/** What of a shape is decided with the first request, before any node has joined. */
export type FirstShape = Pick<Meta, 'queueClass' | 'dupefilter'>;

/** The meta of a crawl that begins. */
export function newMeta({ queueClass, dupefilter }: FirstShape): Meta {
  return {
    format: dataFormats.embedded,
    crawl: randomBytes(8).toString('hex'),
    epoch: randomBytes(6).readUIntBE(0, 6),
    shape: null,
    queueClass,
    dupefilter,
    tunables: firstTunables,
    hasStart: false,
    startPushed: false,
    startCount: 0,
    control: 'running',
    run: null,
    beganAtMs: Date.now(),
    seenSinceMs: Date.now(),
    restoring: null,
    restoredFrom: null,
  };
}

/** The data format a crawl is kept in, read without trusting anything else of it; null where there is none. */
export function formatOf(meta: Buffer | undefined): number | null {
  if (meta === undefined) return null;
  try {
    return Number((JSON.parse(meta.toString()) as Partial<Meta>).format ?? 0);
  } catch {
    return 0;
  }
}

/** A run that begins now. */
export function newRun(nowMs: number, budgets: Budgets): Run {
  return {
    id: randomBytes(8).toString('hex'),
    startedAtMs: nowMs,
    budgets,
    closing: null,
    closingAtMs: 0,
    closingLimit: 0,
    closed: null,
    closedAtMs: 0,
  };
}
