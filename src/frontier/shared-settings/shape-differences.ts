/** Messages about the shape of a crawl, its tunables and a flush, with the names of the settings; for both engines. */
import { RefusedError } from '../../errors.js';
import type { Dupefilter, Shape, Tunables } from '../frontier.js';
import { sortedJson } from './tunable-text.js';

/** The refusal of a node (exit 3), with both values of each difference; null when the shapes are equal. */
export function otherShape(theirs: Partial<Shape>, ours: Partial<Shape>): RefusedError | null {
  const differences = shapeDifferences(theirs, ours);
  if (differences.length === 0) return null;
  return new RefusedError(
    `this crawl was started with another shape: ${differences.join('; ')}. Use the same settings, another --job, or reset the crawl`,
    { code: 'shape' },
  );
}

/** The differences of two shapes, one clause for each field. */
export function shapeDifferences(theirs: Partial<Shape>, ours: Partial<Shape>): string[] {
  return (Object.keys(theirs) as (keyof Shape)[])
    .map((name) => ({ name, there: inWords(theirs[name]), here: inWords(ours[name]) }))
    .filter(({ there, here }) => there !== here)
    .map(({ name, there, here }) => `${settingsOf(name, there + here)} is ${there} there and ${here} here`);
}

/** A REQUEST_MODULE stands in the place of the fingerprinter. */
function settingsOf(name: keyof Shape, values: string): string {
  const hasModule = name === 'fingerprinter' && values.includes('module ');
  return hasModule ? 'REQUEST_FINGERPRINTER or REQUEST_MODULE' : shapeSettings[name];
}

/** The setting of each field of a shape. Parameters of the dupefilter are named after its class. */
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

/** The text by which the engines store and compare a dupefilter. Equal dupefilters have equal texts. */
export function dupefilterText(dupefilter: Dupefilter): string {
  return sortedJson(dupefilter);
}

/** The setting of each tunable. */
export const tunableSettings: Readonly<Record<keyof Tunables, string>> = {
  delayMs: 'DOWNLOAD_DELAY',
  randomizeDelay: 'RANDOMIZE_DOWNLOAD_DELAY',
  concurrencyPerDomain: 'CONCURRENT_REQUESTS_PER_DOMAIN',
  nodeTimeoutMs: 'NODE_TIMEOUT',
  failedLimit: 'FAILED_LIMIT',
  queueLimit: 'SCHEDULER_QUEUE_LIMIT',
  memoryLimit: 'SCHEDULER_MEMORY_LIMIT',
  pagesPerDomain: 'URL_PAGES_PER_DOMAIN_LIMIT',
  slots: 'DOWNLOAD_SLOTS',
  autothrottle: 'AUTOTHROTTLE',
};

/** A sentence for the user of a node that changed a tunable for all nodes. '' and null are shown as off, times in seconds as in the settings. */
export function tunableNotice(name: keyof Tunables, before: unknown, after: unknown): string {
  return `${tunableSettings[name]} was ${shown(name, before)} and is ${shown(name, after)} now, for all nodes`;
}

function shown(name: string, value: unknown): string {
  if (value === null || value === '' || value === undefined) return 'off';
  const [[, inSeconds]] = Object.entries(timesInSeconds({ [name]: value })) as [[string, unknown]];
  return typeof inSeconds === 'object' ? sortedJson(inSeconds!) : String(inSeconds);
}

/** `delayMs: 1500` becomes `delay: '1.5 s'`, at any depth. */
function timesInSeconds(fields: object): object {
  const entries = Object.entries(fields).map(([name, value]) => {
    if (name.endsWith('Ms')) return [name.slice(0, -2), `${Number(value) / 1000} s`];
    return [name, typeof value === 'object' && value !== null ? timesInSeconds(value) : value];
  });
  return Object.fromEntries(entries);
}

/** The result of SCHEDULER_FLUSH_ON_START; null when it was not set or there was nothing to clear. */
export type Flush = 'flushed' | 'others' | 'interrupted';

/** A sentence for the user, or none. @param others the number of other live nodes. */
export function flushNotice(flush: Flush | null, others: number): string[] {
  return flush === null ? [] : [`SCHEDULER_FLUSH_ON_START${flushed[flush](others)}`];
}

const flushed: Readonly<Record<Flush, (others: number) => string>> = {
  flushed: () => ': cleared the requests, failed requests and fingerprints that earlier runs had left',
  others: (count) =>
    ` has no effect here: ${count} other node${count === 1 ? ' is' : 's are'} working on this crawl`,
  interrupted: () =>
    ' has no effect here: this node goes on with a run that was interrupted; reset the crawl to begin anew',
};
