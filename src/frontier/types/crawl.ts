/** The settings that the nodes of a crawl share, its parts, and the states of its requests. */

import type { Dupefilter } from '../dupefilter-classes.js';

export type { Dupefilter };

export type Engine = 'redis' | 'embedded';

export type Control = 'running' | 'paused' | 'stopping';

/** A node, as it names itself. */
export interface NodeInfo {
  /** The label given with `--node-id`, or host-pid. May repeat. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

/** Settings that all nodes of a crawl must share. A node with another shape is refused (exit 3), naming both values. */
export interface Shape {
  readonly queueClass: 'PriorityQueue' | 'FifoQueue' | 'LifoQueue';
  readonly dupefilter: Dupefilter;
  readonly fingerprinter: string;
  readonly domainKey: 'host' | 'registered';
  readonly persist: boolean;
}

/** Crawl-wide settings. Those of the node that joined last hold for all nodes. */
export interface Tunables {
  readonly delayMs: number;
  /** Each delay is chosen at random between 1 and 1.5 times `delayMs`, so never shorter than `delayMs`. */
  readonly randomizeDelay: boolean;
  readonly concurrencyPerDomain: number;
  readonly nodeTimeoutMs: number;
  readonly failedLimit: number;
  /**
   * The intake of seeds pauses at so many pending and delayed requests. At twice as many, discovered requests are
   * dropped. Start requests, pushed seeds, retries and released requests are never dropped. 0 is no limit.
   */
  readonly queueLimit: number;
  /**
   * SCHEDULER_MEMORY_LIMIT: while the crawl takes so many bytes in the store, the intake of seeds pauses and discovered requests are
   * dropped, as beyond `queueLimit`. Measured with each point of the history. 0 is no limit.
   */
  readonly memoryLimit: number;
  /**
   * URL_PAGES_PER_DOMAIN_LIMIT: of each domain at most so many requests are accepted, counted until the crawl has finished.
   * Links beyond it are dropped. Start requests and seeds are counted, and never dropped. 0 is no limit.
   */
  readonly pagesPerDomain: number;
  /** DOWNLOAD_SLOTS: what is different for single domains, by name; null for none. */
  readonly slots: Readonly<Record<string, DomainLimits>> | null;
  /** AutoThrottle; null when it is off. */
  readonly autothrottle: AutoThrottle | null;
}

/** What one domain has of its own. What is absent is that of the crawl. */
export interface DomainLimits {
  readonly delayMs?: number;
  readonly concurrency?: number;
  readonly randomizeDelay?: boolean;
}

/**
 * Scrapy's AutoThrottle, for all nodes together. The delay of a domain follows its latency / `targetConcurrency`: raised at
 * once, lowered by half of the difference, not by an answer other than 200. It is never below the delay that the settings
 * give the domain.
 */
export interface AutoThrottle {
  /** The delay of a domain before its first answer. */
  readonly startDelayMs: number;
  readonly maxDelayMs: number;
  readonly targetConcurrency: number;
}

/**
 * Limits that close a run, counted over all nodes since it started; 0 is no limit. Pages are started downloads. A page is
 * reserved when it is leased, so the limit is never exceeded. The page that reaches the item limit is committed whole and
 * closes the run; later pages with items are returned to pending. Errors are exceptions in spider code. After the error or
 * time limit, leased requests are still finished.
 */
export interface Budgets {
  readonly maxPages: number;
  readonly maxItems: number;
  readonly maxErrors: number;
  /** On the store's clock, from the start of the run. */
  readonly maxRunMs: number;
}

export const allParts = ['queue', 'dupefilter', 'start_urls', 'items', 'stats', 'failed'] as const;

export type Part = (typeof allParts)[number];

export type PartCounts = Readonly<Record<Part, number>>;

export interface FailedRequest {
  readonly id: string;
  readonly record: string | null;
  readonly reason: string;
  readonly status: number | null;
  readonly attempts: number;
  readonly crashes: number;
  readonly node: string;
  readonly failedAtMs: number;
  readonly detail: string | null;
}

export type RequestState = 'pending' | 'delayed' | 'leased' | 'failed' | 'seen' | 'unknown';

/**
 * The last state of a request, as a StateDupeFilter records it: pending (accepted, released or recovered), delayed
 * (accepted or retried), leased, done or failed. It starts again when the request is accepted again or retried from the
 * failed list.
 */
export interface RequestLife {
  readonly state: 'pending' | 'leased' | 'delayed' | 'done' | 'failed';
  readonly atMs: number;
  /** HTTP status of the last attempt; null before the first, and where there was no answer. */
  readonly status: number | null;
  readonly attempts: number;
}
