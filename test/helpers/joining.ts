/** How a node of a test joins a crawl: a plain default for everything that the test does not say. */
import { hostname } from 'node:os';
import { noBudgets } from '../../src/frontier/budgets.js';
import type { Budgets, Frontier, Joined, Shape, Tunables } from '../../src/frontier/frontier.js';
import { defaultShape } from './open-options.js';

/** Nothing in them slows a crawl down or cuts it short. */
export const defaultTunables: Tunables = {
  delayMs: 0,
  randomizeDelay: false,
  concurrencyPerDomain: 100,
  nodeTimeoutMs: 30_000,
  failedLimit: 100,
  queueLimit: 0,
  memoryLimit: 0,
  pagesPerDomain: 0,
  slots: null,
  autothrottle: null,
};

/** What a test says of a node. */
export interface JoinChoice {
  readonly id?: string;
  /** The process the node says it is; this one unless told. */
  readonly pid?: number;
  readonly shape?: Partial<Shape>;
  readonly tunables?: Partial<Tunables>;
  readonly budgets?: Partial<Budgets>;
  readonly feeds?: readonly string[];
  readonly hasStart?: boolean;
  readonly hasIdle?: boolean;
  readonly maxCookieJars?: number;
  readonly flushOnStart?: boolean;
  readonly args?: Readonly<Record<string, string>>;
  readonly startsAgain?: boolean;
}

/** Join as a node of this machine. */
export function joinAs(frontier: Frontier, choice: JoinChoice = {}): Promise<Joined> {
  const node = { id: choice.id ?? 'one', host: hostname(), pid: choice.pid ?? process.pid };
  return frontier.join(node, joinOptions(choice));
}

/** What a node tells the frontier as it joins. */
export function joinOptions(choice: JoinChoice = {}): Parameters<Frontier['join']>[1] {
  return {
    shape: { ...defaultShape, ...choice.shape },
    tunables: { ...defaultTunables, ...choice.tunables },
    budgets: { ...noBudgets, ...choice.budgets },
    feeds: choice.feeds ?? [],
    hasStart: choice.hasStart ?? false,
    hasIdle: choice.hasIdle ?? false,
    maxCookieJars: choice.maxCookieJars ?? 100,
    flushOnStart: choice.flushOnStart ?? false,
    args: choice.args ?? {},
    startsAgain: choice.startsAgain ?? false,
  };
}
