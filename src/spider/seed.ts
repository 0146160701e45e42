/**
 * An external seed as text → Request: a plain URL, or a JSON object with the fields of a Request.
 * Scrapy-Redis makes a form field of every key it does not know; here such a seed is bad (SCRAPY_REDIS.md).
 */
import { InvalidRequestError } from '../errors.js';
import { Request, type RequestOptions } from '../http/message/request.js';
import { didYouMean } from '../settings/nearest.js';

/** @throws InvalidRequestError `bad_seed` with the reason. */
export function parseSeed(data: string): Request {
  const text = data.trim();
  if (text === '') throw bad('it is empty');
  return isJson(text) ? fromJson(text) : makeRequest(text, {});
}

/** A number, `"x"` or `true` is JSON too, though not an object. `127.0.0.1:8080` is none. */
function isJson(text: string): boolean {
  return /^[[{"]/.test(text) || /^(true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?)$/.test(text);
}

function fromJson(text: string): Request {
  const seed = parseJson(text);
  if (typeof seed !== 'object' || seed === null || Array.isArray(seed)) {
    throw bad('it is JSON, but not an object; write a URL, or an object with "url"');
  }
  const unknown = Object.keys(seed).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    const hint =
      didYouMean(unknown, keys) || `; the keys are ${keys.join(', ')}, and form fields go into formdata`;
    throw bad(`its key ${JSON.stringify(unknown)} is unknown${hint}`);
  }
  const { url, dont_filter: dontFilter, ...options } = seed as Seed;
  if (typeof url !== 'string') throw bad('it has no "url" that is text');
  return makeRequest(url, dontFilter === undefined ? options : { dontFilter, ...options });
}

/** What a seed may hold; that the types are right is checked by Request. */
type Seed = RequestOptions & { readonly url: unknown; readonly dont_filter?: boolean };

const keys: readonly string[] = [
  ...['url', 'method', 'headers', 'body', 'json', 'formdata', 'meta', 'priority', 'callback', 'errback'],
  ...['cookies', 'dontFilter', 'dont_filter'],
];

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw bad(`it is not valid JSON: ${(error as Error).message}`, error);
  }
}

function makeRequest(url: string, options: RequestOptions): Request {
  try {
    return new Request(url, options);
  } catch (error) {
    if (error instanceof InvalidRequestError) throw bad(error.message, error);
    throw error;
  }
}

function bad(reason: string, cause?: unknown): InvalidRequestError {
  return new InvalidRequestError(`bad seed: ${reason}`, { code: 'bad_seed', cause });
}
