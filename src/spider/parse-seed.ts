/**
 * Parse an external seed: a plain URL, or a JSON object with the fields of a Request. A seed with an unknown key is bad,
 * whereas Scrapy-Redis sends unknown keys as form fields.
 */
import { InvalidRequestError } from '../errors.js';
import { type CbKwargs, Request, type RequestOptions } from '../http/message/request.js';
import { didYouMean } from '../settings/nearest.js';

/** @throws InvalidRequestError `bad_seed` with the reason. */
export function parseSeed(data: string): Request {
  const text = data.trim();
  if (text === '') throw badSeed('it is empty');
  return isJson(text) ? fromJson(text) : makeRequest(text, {});
}

/** Also true for JSON that is not an object, such as `"x"` or `true`. False for `127.0.0.1:8080`. */
function isJson(text: string): boolean {
  return /^[[{"]/.test(text) || /^(true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?)$/.test(text);
}

function fromJson(text: string): Request {
  const seed = parseJson(text);
  if (typeof seed !== 'object' || seed === null || Array.isArray(seed)) {
    throw badSeed('it is JSON, but not an object; write a URL, or an object with "url"');
  }
  const unknown = Object.keys(seed).find((key) => !seedKeys.includes(key));
  if (unknown !== undefined) {
    const hint =
      didYouMean(unknown, seedKeys) ||
      `; the keys are ${seedKeys.join(', ')}, and form fields go into formdata`;
    throw badSeed(`its key ${JSON.stringify(unknown)} is unknown${hint}`);
  }
  const { url, dont_filter: dontFilter, cb_kwargs: cbKwargs, ...options } = seed as Seed;
  if (typeof url !== 'string') throw badSeed('it has no "url" that is text');
  return makeRequest(url, {
    ...(dontFilter !== undefined && { dontFilter }),
    ...(cbKwargs !== undefined && { cbKwargs }),
    ...options,
  });
}

/** The fields of a seed. Request checks their types. */
type Seed = RequestOptions & {
  readonly url: unknown;
  readonly dont_filter?: boolean;
  readonly cb_kwargs?: CbKwargs;
};

const seedKeys: readonly string[] = [
  ...['url', 'method', 'headers', 'body', 'json', 'formdata', 'meta', 'priority', 'callback', 'errback'],
  ...['cookies', 'dontFilter', 'dont_filter', 'cbKwargs', 'cb_kwargs', 'proxy'],
  ...['timeout', 'cookieJar'],
];

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badSeed(`it is not valid JSON: ${(error as Error).message}`, error);
  }
}

function makeRequest(url: string, options: RequestOptions): Request {
  try {
    return new Request(url, options);
  } catch (error) {
    if (error instanceof InvalidRequestError) throw badSeed(error.message, error);
    throw error;
  }
}

function badSeed(reason: string, cause?: unknown): InvalidRequestError {
  return new InvalidRequestError(`bad seed: ${reason}`, { code: 'bad_seed', cause });
}
