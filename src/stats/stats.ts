/**
 * The stats of the user's own code, and which page a change belongs to. A page's changes are committed with it. Those outside
 * of pages, as in `opened()` or a timer, are written within about a second.
 *
 * The code of many pages runs at the same time, so each page runs in an asynchronous context of its own. That slows down every
 * promise of the process a little before Node 24. So a node does it only once some code has asked for the stats.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { StatChange, StatValue } from './stat-change.js';
import { StatChanges } from './stat-changes.js';

/** Stats of one's own, for all nodes of the crawl together. Their changes are committed with the page that makes them. */
export interface Stats {
  /** Add a number, 1 by default. */
  incValue(name: string, by?: number): void;
  /** Set a number or a text. Of several pages, the one that is committed last wins. */
  setValue(name: string, value: StatValue): void;
  /** Keep the largest number. */
  maxValue(name: string, value: number): void;
  /** Keep the smallest number. */
  minValue(name: string, value: number): void;
}

/** The stats of one node. */
export class NodeStats implements Stats {
  readonly #outside = new StatChanges();
  #pages: AsyncLocalStorage<StatChanges> | null = null;

  get isEnabled(): boolean {
    return this.#pages !== null;
  }

  /** Called when some code may change stats. From now on pages run in an asynchronous context of their own. */
  enable(): this {
    this.#pages ??= new AsyncLocalStorage();
    return this;
  }

  /** Run the code of a page. @param page gets the changes, unless no code makes any. @returns what `run` returns */
  during<T>(page: { stats: StatChanges | null }, run: () => T): T {
    if (this.#pages === null) return run();
    page.stats = new StatChanges();
    return this.#pages.run(page.stats, run);
  }

  /** Remove and return the changes outside of pages. */
  takeOutside(): StatChange[] {
    return this.#outside.take();
  }

  incValue(name: string, by = 1): void {
    this.#add({ name, op: 'inc', value: by });
  }

  setValue(name: string, value: StatValue): void {
    this.#add({ name, op: 'set', value });
  }

  maxValue(name: string, value: number): void {
    this.#add({ name, op: 'max', value });
  }

  minValue(name: string, value: number): void {
    this.#add({ name, op: 'min', value });
  }

  #add(change: StatChange): void {
    const page = this.enable().#pages?.getStore();
    if (page === undefined || page.isOver) this.#outside.add(change);
    else page.add(change);
  }
}

/** Checks its arguments and stores nothing: for spiders outside of a crawl, as in `crawlnode parse` and in tests. */
export const uncountedStats: Stats = {
  incValue: (name, by = 1) => new StatChanges().add({ name, op: 'inc', value: by }),
  setValue: (name, value) => new StatChanges().add({ name, op: 'set', value }),
  maxValue: (name, value) => new StatChanges().add({ name, op: 'max', value }),
  minValue: (name, value) => new StatChanges().add({ name, op: 'min', value }),
};

/** Whether the code of a class mentions `stats`, in itself or in a class between it and `base`. */
export function mentionsStats(instance: object, base: object): boolean {
  for (let owner = instance; owner !== base && owner !== null; owner = Object.getPrototypeOf(owner)) {
    if (/\bstats\b/.test(Function.prototype.toString.call(owner.constructor))) return true;
  }
  return false;
}
