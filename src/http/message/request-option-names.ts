/** The options of a request: a mistyped one, or one of Scrapy's, would be passed over in silence. */
import { InvalidRequestError } from '../../errors.js';
import { didYouMean } from '../../settings/nearest.js';
import type { RequestOptions } from './request.js';

const options: Readonly<Record<keyof RequestOptions, true>> = {
  ...{ method: true, headers: true, body: true, json: true, formdata: true, meta: true, priority: true },
  ...{ dontFilter: true, callback: true, errback: true, cookies: true },
};
const known = new Set(Object.keys(options));
/** The fields of a request that is spread into the options of the next: they say nothing of that one. */
const fields = new Set(['url', 'depth', 'attempts', 'redirects', 'origin']);

/** @throws InvalidRequestError naming the option and the nearest there is. */
export function checkOptionNames(given: unknown): void {
  if (typeof given !== 'object' || given === null) {
    throw new InvalidRequestError('the options of a request are not an object.');
  }
  for (const name in given) {
    if (known.has(name) || fields.has(name)) continue;
    const hint = didYouMean(name.replaceAll('_', ''), known) || `; there are ${[...known].join(', ')}`;
    throw new InvalidRequestError(`${JSON.stringify(name)} is no option of a request${hint}`);
  }
}
