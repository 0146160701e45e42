/** The options of a request. An unknown name, such as a misspelt one or one of Scrapy's, is refused and not ignored. */
import { InvalidRequestError } from '../../errors.js';
import { didYouMean } from '../../settings/nearest.js';
import type { FormData } from './form/form-data.js';
import type { HeadersInput } from './headers.js';
import type { CookiesInput } from './request-cookies.js';
import type { Meta } from './request-meta.js';

/**
 * A Request or an item, which is a plain object. The type refuses what authors yield by mistake: texts and numbers, which are
 * no objects, and the classes that have one of these members.
 */
// biome-ignore lint/suspicious/noExplicitAny: a field of an item, which makes a literal of any item possible here.
export type Result = (object | Readonly<Record<string, any>>) & {
  /** Selections, typed arrays, Maps. */
  readonly [Symbol.iterator]?: never;
  /** Async generators, of which `yield*` is meant. */
  readonly [Symbol.asyncIterator]?: never;
  /** Promises, of which the value is meant. */
  readonly [Symbol.toStringTag]?: never;
  /** Dates. */
  readonly [Symbol.toPrimitive]?: never;
  /** Functions. */
  readonly [Symbol.hasInstance]?: never;
  /** A Response. */
  readonly followAll?: never;
};

// biome-ignore lint/suspicious/noConfusingVoidType: a method that returns nothing has this type.
type Optional = Result | null | undefined | void;
/** What a generator may yield: a Request, an item, nothing, or several of these. */
export type Yielded = Optional | Iterable<Optional> | AsyncIterable<Optional>;
/** What a callback may return: what it may yield, a list, a generator, or a promise of one of these. */
export type CallbackResults = Several | Promise<Several>;
type Several = Yielded | Iterable<Yielded> | AsyncIterable<Yielded>;

/** The Response that a callback gets. `response.ts`, which imports this file, adds the members. */
// biome-ignore lint/suspicious/noEmptyInterface: see above.
export interface CallbackPage {}

/** A method of the spider, stored by its name. It gets the Response and the request's `cbKwargs`. */
// biome-ignore lint/suspicious/noExplicitAny: each method says what it takes.
export type Callback<K = any> = (response: CallbackPage, cbKwargs: K) => CallbackResults;

/** The `cbKwargs` that a callback takes; they may be left out unless it needs one. */
export type CbKwargsFor<K extends CbKwargs> =
  Record<never, never> extends K ? unknown : { readonly cbKwargs: K };

/** What is known of a request that failed, beside its page: the type of an argument that no Response is taken for. */
export interface FailedRequest {
  /** A stable name, such as `timeout`, `dns_not_found`, `http_status`. */
  readonly reason: string;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** Null when the server did not respond. */
  // biome-ignore lint/suspicious/noExplicitAny: Response imports this file.
  readonly response: any;
  /** The request that failed. */
  // biome-ignore lint/suspicious/noExplicitAny: Request imports this file.
  readonly request: any;
  /** A sentence for the log. */
  readonly message: string;
}

/** A method of the spider, stored by its name. It gets the Failure and the request's `cbKwargs`. */
// biome-ignore lint/suspicious/noExplicitAny: each method says what it takes.
export type Errback = (failure: FailedRequest, cbKwargs: any) => CallbackResults;

/** Arguments for the callback of a request, by name. They are JSON, since another node may process the request. */
// biome-ignore lint/suspicious/noExplicitAny: the spider knows what it put there.
export type CbKwargs = Readonly<Record<string, any>>;

/** The options of `new Request(url, options)`. */
// biome-ignore lint/suspicious/noExplicitAny: options apart from their request fit every callback.
export interface RequestOptions<K extends CbKwargs = any> {
  /** GET unless given; POST with `json` or `formdata`. */
  readonly method?: string;
  /** Headers of this request; they override those of DEFAULT_REQUEST_HEADERS. */
  readonly headers?: HeadersInput;
  /** At most one of `body`, `json` and `formdata` may be given. Text is sent as UTF-8. */
  readonly body?: string | Uint8Array | null;
  /** Sent as JSON, with its content type. */
  readonly json?: unknown;
  /** Sent as an HTML form. With `method: 'GET'` it replaces the query of the URL, as in Scrapy. */
  readonly formdata?: FormData;
  /** Passed to the callback as `response.meta`. Only values that JSON can represent are allowed. */
  readonly meta?: Readonly<Meta>;
  /** Arguments for the callback and the errback, which get them as their second parameter. Only values that JSON can represent are allowed. */
  readonly cbKwargs?: NoInfer<K>;
  /** Integer within ±2³¹. Requests with a higher priority are processed first. */
  readonly priority?: number;
  /** True downloads the request even when the same one was seen before. */
  readonly dontFilter?: boolean;
  /** A method of the spider or its name; `parse` unless given. */
  readonly callback?: Callback<K> | string | null;
  /** A method of the spider or its name, called with a Failure when the request fails. */
  readonly errback?: Errback | string | null;
  /** Values by name, or Scrapy's list of `{ name, value }`. */
  readonly cookies?: CookiesInput | null;
  /** DOWNLOAD_TIMEOUT of this request, in seconds. It is stored as `meta.download_timeout`; null removes it. */
  readonly timeout?: number | null;
  /** The cookie jar of this request, a session of its own. It is stored as `meta.cookiejar`; null is the default jar. */
  readonly cookieJar?: string | number | null;
  /**
   * The proxy of this request, such as `http://user:password@host:port` or `socks5://host:port`; null for none. It is stored
   * as `meta.proxy`.
   */
  readonly proxy?: string | null;
}

const options: Readonly<Record<keyof RequestOptions, true>> = {
  ...{ method: true, headers: true, body: true, json: true, formdata: true, meta: true, priority: true },
  ...{ cbKwargs: true, dontFilter: true, callback: true, errback: true, cookies: true, proxy: true },
  ...{ timeout: true, cookieJar: true },
};
const optionNames = new Set(Object.keys(options));
/** Fields of a Request that are not options. They are ignored, so that a request can be spread into the options of another. */
const ignoredFields = new Set(['url', 'depth', 'attempts', 'redirects', 'origin']);

/** What serves in place of options of Crawlee. */
const crawleeOptions: Readonly<Record<string, string>> = {
  userData: 'use meta',
  label: 'use callback',
  uniqueKey: 'use dontFilter, or fingerprint() of the spider',
};

/**
 * @param more names that are allowed too.
 * @throws InvalidRequestError naming an unknown option and the nearest existing one.
 */
export function checkOptionNames(given: unknown, more: readonly string[] = []): void {
  if (typeof given !== 'object' || given === null) {
    const instead = typeof given === 'function' ? ': a callback is { callback: this.parsePage }' : '';
    throw new InvalidRequestError(`the options of a request are not an object${instead}.`);
  }
  for (const name in given) {
    if (optionNames.has(name) || ignoredFields.has(name)) continue;
    const names = [...more, ...optionNames];
    const instead = Object.hasOwn(crawleeOptions, name) ? `: ${crawleeOptions[name]}` : '';
    const hint = instead || didYouMean(name.replaceAll('_', ''), names) || `; there are ${names.join(', ')}`;
    throw new InvalidRequestError(`${JSON.stringify(name)} is no option of a request${hint}`);
  }
}
