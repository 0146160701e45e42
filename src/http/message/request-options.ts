/** The options of a request. A mistyped name, or one of Scrapy's, is refused: it would be ignored silently otherwise. */
import { InvalidRequestError } from '../../errors.js';
import { didYouMean } from '../../settings/nearest.js';
import type { CookiesInput } from './cookies.js';
import type { FormData } from './form-data.js';
import type { HeadersInput } from './headers.js';

/** A method of the spider, stored by its name. */
// biome-ignore lint/suspicious/noExplicitAny: a callback takes the Response, an errback the Failure.
export type Callback = (response: any) => unknown;

/** What travels from a request to its callback: JSON, so that any node can take it up. */
// biome-ignore lint/suspicious/noExplicitAny: the spider knows what it put there.
export type Meta = Record<string, any>;

/** The options of `new Request(url, options)`. */
export interface RequestOptions {
  /** GET unless given; POST with `json` or `formdata`. */
  readonly method?: string;
  readonly headers?: HeadersInput;
  /** At most one of `body`, `json` and `formdata`. Text is sent as UTF-8. */
  readonly body?: string | Uint8Array | null;
  /** Sent as JSON, with its content type. */
  readonly json?: unknown;
  /** Sent as an HTML form; with `method: 'GET'` it replaces the query of the URL, as in Scrapy. */
  readonly formdata?: FormData;
  /** Travels to the callback as `response.meta`; must survive JSON. */
  readonly meta?: Readonly<Meta>;
  /** Integer within ±2³¹; higher goes first. */
  readonly priority?: number;
  /** True fetches it even when the same request was seen before. */
  readonly dontFilter?: boolean;
  /** A method of the spider or its name; `parse` unless given. */
  readonly callback?: Callback | string | null;
  /** A method of the spider or its name, called with a Failure when the request ends badly. */
  readonly errback?: Callback | string | null;
  /** Values by name, or Scrapy's list of `{ name, value }`. */
  readonly cookies?: CookiesInput | null;
}

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
