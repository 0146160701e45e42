/** Refusals (exit 3) in the words of both engines. */
import { RefusedError } from '../errors.js';
import type { Part } from './frontier.js';

/** The refusal of what must not be done to a crawl under its nodes. */
export function nodesAtWork(count: number, what: keyof typeof forced): RefusedError {
  return new RefusedError(
    `${count} node${count === 1 ? ' is' : 's are'} working on this crawl: stop them first (or use --force${forced[what]})`,
    { code: 'live_nodes' },
  );
}

/** What `--force` brings upon them. */
const forced = {
  clear: ', which makes them stop with an error',
  repair: ', which makes them join anew',
  restore: '',
} as const;

/** A node wants to join a crawl that is not wholly there yet. */
export function restoreUnderWay(): RefusedError {
  return new RefusedError(
    'a backup is being brought back into this crawl, or that was cut off: run "crawlnode restore" with the same file again, or reset the crawl',
    { code: 'restoring' },
  );
}

/** A crawl into which another backup was brought back in part. */
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

/** The restore that goes on was ended, or the crawl reset, by somebody else. */
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

/** A BloomDupeFilter cannot forget: a bit of one fingerprint is one of many others as well. */
export function cannotForget(): RefusedError {
  return new RefusedError(
    'a BloomDupeFilter cannot forget single URLs: seed the URL again (a seed is fetched whatever the dupefilter says, unless SEEDS_FILTERED is set), forget all of them with "crawlnode reset SPIDER --only dupefilter", or choose another DUPEFILTER_CLASS',
    { code: 'cannot_forget' },
  );
}
