/** Refusals (exit 3) that both engines share. */
import { RefusedError } from '../errors.js';
import type { Dupefilter, Part } from './frontier.js';

/** Refuses an operation that is not allowed while nodes work on the crawl. */
export function nodesAtWork(count: number, what: keyof typeof forced): RefusedError {
  return new RefusedError(
    `${count} node${count === 1 ? ' is' : 's are'} working on this crawl: stop them first (or use --force${forced[what]})`,
    { code: 'live_nodes' },
  );
}

/** The effect of `--force` on these nodes. */
const forced = {
  clear: ', which makes them stop with an error',
  repair: ', which makes them join anew',
  restore: '',
} as const;

/** Refuses a node that joins a crawl whose restore is not finished. */
export function restoreUnderWay(): RefusedError {
  return new RefusedError(
    `a backup is being brought back into this crawl, or that was cut off: run "crawlnode restore" with the same file again, go on with what is there by "crawlnode doctor SPIDER --repair", or reset the crawl`,
    { code: 'restoring' },
  );
}

/** Refuses a new node while those that were told to stop have not ended. One that was killed counts until NODE_TIMEOUT. */
export function nodesAreStopping(count: number): RefusedError {
  return new RefusedError(
    `somebody has stopped this crawl, and ${count === 1 ? 'a node of it has' : `${count} nodes of it have`} not ended yet`,
    { code: 'live_nodes' },
  );
}

/** Refuses a restore into a crawl in which the restore of another backup is not finished. */
export function otherRestore(): RefusedError {
  return new RefusedError(
    'another backup was brought back into this crawl only in part: run "crawlnode restore" with that file and the same parts, or reset the crawl first',
    { code: 'restoring' },
  );
}

export function partNotEmpty(part: Part): RefusedError {
  return new RefusedError(
    `this crawl holds ${nounOf[part]} already: reset it first ("crawlnode reset SPIDER --only ${part}"), bring back other parts (--only), restore into another --job, or add what is missing with --force`,
    { code: 'not_empty' },
  );
}

/** The restore under way was ended by another process, or the crawl was reset. */
export function restoreGone(): RefusedError {
  return new RefusedError('the crawl was reset, or restored by another process, meanwhile: begin again', {
    code: 'restoring',
  });
}

const nounOf: Readonly<Record<Part, string>> = {
  queue: 'requests',
  dupefilter: 'fingerprints',
  start_urls: 'seeds in start_urls',
  items: 'items',
  stats: 'counters',
  failed: 'failed requests',
};

/** The dupefilter is of a class that cannot remove single fingerprints. */
export function cannotForget({ class: name }: Dupefilter): RefusedError {
  return new RefusedError(
    `a ${name} cannot forget single URLs: seed the URL again (a seed is fetched whatever the dupefilter says, unless SEEDS_FILTERED is set), forget all of them with "crawlnode reset SPIDER --only dupefilter", or choose another DUPEFILTER_CLASS`,
    { code: 'cannot_forget' },
  );
}
