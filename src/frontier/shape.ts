/** What both engines say of a crawl's shape, its tunables and a flush, in the words of the settings. */
import { RefusedError } from '../errors.js';
import type { Dupefilter, Shape, Tunables } from './frontier.js';

/** The refusal of a node (exit 3) that names each difference, both ways; null where there is none. */
export function otherShape(theirs: Partial<Shape>, ours: Partial<Shape>): RefusedError | null {
  const differences = shapeDifferences(theirs, ours);
  if (differences.length === 0) return null;
  return new RefusedError(
    `this crawl was started with another shape: ${differences.join('; ')}. Use the same settings, another --job, or reset the crawl`,
    { code: 'shape' },
  );
}

/** In what two shapes differ, a clause for each field. */
export function shapeDifferences(theirs: Partial<Shape>, ours: Partial<Shape>): string[] {
  return (Object.keys(theirs) as (keyof Shape)[])
    .map((name) => ({ name, there: inWords(theirs[name]), here: inWords(ours[name]) }))
    .filter(({ there, here }) => there !== here)
    .map(({ name, there, here }) => `${shapeSettings[name]} is ${there} there and ${here} here`);
}

/** The setting behind each part of a shape; those of the dupefilter are named with its class. */
const shapeSettings: Readonly<Record<keyof Shape, string>> = {
  queueClass: 'SCHEDULER_QUEUE_CLASS',
  dupefilter: 'DUPEFILTER_CLASS',
  fingerprinter: 'REQUEST_FINGERPRINTER',
  domainKey: 'DOMAIN_KEY',
  persist: 'SCHEDULER_PERSIST',
};

function inWords(value: Shape[keyof Shape] | undefined): string {
  return typeof value === 'object' ? dupefilterInWords(value) : String(value);
}

/** Class and parameters of a dupefilter, such as `BloomDupeFilter(capacity 1000000, errorRate 0.001)`. */
export function dupefilterInWords({ class: name, ...parameters }: Dupefilter): string {
  const given = Object.entries(parameters).map(([parameter, value]) => `${parameter} ${value}`);
  return given.length === 0 ? name : `${name}(${given.join(', ')})`;
}

/** The text of a dupefilter that the engines compare and keep: the same for all who mean the same. */
export function dupefilterText(dupefilter: Dupefilter): string {
  return JSON.stringify(Object.fromEntries(Object.entries(dupefilter).sort(([a], [b]) => (a < b ? -1 : 1))));
}

const settingOf: Readonly<Record<keyof Tunables, string>> = {
  delayMs: 'DOWNLOAD_DELAY (ms)',
  randomizeDelay: 'RANDOMIZE_DOWNLOAD_DELAY',
  concurrencyPerDomain: 'CONCURRENT_REQUESTS_PER_DOMAIN',
  nodeTimeoutMs: 'NODE_TIMEOUT (ms)',
  failedLimit: 'FAILED_LIMIT',
  queueLimit: 'SCHEDULER_QUEUE_LIMIT',
};

/** The latest node's tunables hold for all: a sentence for its user. */
export function tunableNotice(name: keyof Tunables, before: unknown, after: unknown): string {
  return `${settingOf[name]} was ${before} and is ${after} now, for all nodes`;
}

/** What became of SCHEDULER_FLUSH_ON_START; null where it was not set, or there was nothing to forget. */
export type Flush = 'flushed' | 'others' | 'interrupted';

/** A sentence for the user, or none. @param others live nodes beside this one. */
export function flushNotice(flush: Flush | null, others: number): string[] {
  switch (flush) {
    case 'flushed':
      return [
        'SCHEDULER_FLUSH_ON_START: cleared the requests, failed requests and fingerprints that earlier runs had left',
      ];
    case 'others':
      return [
        `SCHEDULER_FLUSH_ON_START has no effect here: ${others} other node${others === 1 ? ' is' : 's are'} working on this crawl`,
      ];
    case 'interrupted':
      return [
        'SCHEDULER_FLUSH_ON_START has no effect here: this node goes on with a run that was interrupted; reset the crawl to begin anew',
      ];
    case null:
      return [];
  }
}
