/** Fingerprints: the SHA-1 by which a request is recognized as seen before, byte for byte as Scrapy computes it. */
import * as crypto from 'node:crypto';
import { canonicalizePlainUrl, canonicalizeSafeUrl } from '../url/canonicalize-url.js';
import { scrapyRequestUrl } from '../url/scrapy-request-url.js';

/** `scrapy-redis` (≥ 0.8) is the default, `scrapy` that of Scrapy ≥ 2.7, `scrapy-2.6` the one before. */
export type FingerprintAlgorithm = 'scrapy-redis' | 'scrapy' | 'scrapy-2.6';

/** The parts of a request that its fingerprint is computed from. */
export interface FingerprintInput {
  readonly url: string;
  /** In any case. */
  readonly method: string;
  readonly body?: Uint8Array | null | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

export interface FingerprintOptions {
  readonly algorithm?: FingerprintAlgorithm | undefined;
  /** Names of headers to include, in any case. None by default; `scrapy-redis` ignores them. */
  readonly includeHeaders?: readonly string[] | undefined;
  readonly keepFragments?: boolean | undefined;
}

/** The name (UTF-8 bytes) and values of a requested header that the request has. */
type IncludedHeader = readonly [name: Buffer, values: readonly Buffer[]];

/**
 * The fingerprint of a request: 40 lower-case hex digits.
 *
 * Source: Scrapy's `fingerprint()` and `request_fingerprint()`, Scrapy-Redis' `RFPDupeFilter`. The hashed JSON is
 * spelled as by Python's `json.dumps(…, sort_keys=True)`.
 * @throws InvalidRequestError (`invalid_url`) where `safeUrl` would.
 */
export function fingerprint(request: FingerprintInput, options: FingerprintOptions = {}): string {
  const { algorithm = 'scrapy-redis', includeHeaders = [], keepFragments = false } = options;
  const { url, body } = request;
  const plain = canonicalizePlainUrl(url);
  // Fast path for plain GET links, the most frequent requests: nothing has to be escaped or encoded.
  if (plain !== null && request.method === 'GET' && algorithm === 'scrapy-redis' && !body?.length) {
    return sha1(`{"body": "", "method": "GET", "url": "${plain}"}`);
  }
  const method = request.method.toUpperCase();
  const canonical = plain ?? canonicalizeSafeUrl(scrapyRequestUrl(url), keepFragments);
  if (algorithm === 'scrapy-redis') return sha1(jsonText(method, canonical, body, ''));
  const headers = includeHeaders.length > 0 ? selectHeaders(request.headers ?? {}, includeHeaders) : [];
  if (algorithm === 'scrapy')
    return sha1(jsonText(method, canonical, body, `"headers": ${jsonHeaders(headers)}, `));
  return sha1(
    Buffer.concat([
      Buffer.from(method + canonical),
      body ?? new Uint8Array(),
      ...headers.flatMap(([name, values]) => [name, ...values]),
    ]),
  );
}

function sha1(data: string | Uint8Array): string {
  return crypto.hash('sha1', data, 'hex');
}

function jsonText(method: string, url: string, body: Uint8Array | null | undefined, headers: string): string {
  const hex = body?.length ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('hex') : '';
  return `{"body": "${hex}", ${headers}"method": ${asciiJson(method)}, "url": ${asciiJson(url)}}`;
}

function jsonHeaders(headers: readonly IncludedHeader[]): string {
  const byName = new Map(headers.map(([name, values]) => [name.toString('hex'), values]));
  const entries = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  const lists = entries.map(
    ([name, values]) => `"${name}": [${values.map((v) => `"${v.toString('hex')}"`).join(', ')}]`,
  );
  return `{${lists.join(', ')}}`;
}

/** A JSON string as Python writes it: ASCII, with lower-case `\uXXXX` for other characters. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^\0-\x7f]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Scrapy stores headers under names title-cased by characters, and looks them up by names title-cased by bytes. For ASCII
 * names, and so for all valid HTTP headers, the look-up ignores case. A name with other letters is found only if both
 * title-cased forms are equal. Fingerprints depend on this.
 */
function selectHeaders(
  headers: Readonly<Record<string, string | readonly string[]>>,
  wanted: readonly string[],
): IncludedHeader[] {
  const present = new Map<string, Buffer[]>();
  for (const [name, value] of Object.entries(headers)) {
    const key = Buffer.from(titleCase(name)).toString('latin1');
    const values = (typeof value === 'string' ? [value] : value).map((text) => Buffer.from(text));
    present.set(key, [...(present.get(key) ?? []), ...values]);
  }
  const selected: IncludedHeader[] = [];
  for (const name of [...wanted].sort(byCodePoint)) {
    const bytes = Buffer.from(name.toLowerCase());
    const values = present.get(titleCaseBytes(bytes.toString('latin1')));
    if (values) selected.push([bytes, values]);
  }
  return selected;
}

function titleCase(name: string): string {
  return name.toLowerCase().replace(/\p{Alphabetic}+/gu, (word) => {
    const [first = '', ...rest] = word;
    return first.toUpperCase() + rest.join('');
  });
}

function titleCaseBytes(bytes: string): string {
  return bytes.replace(
    /[A-Za-z]+/g,
    (word) => (word[0] as string).toUpperCase() + word.slice(1).toLowerCase(),
  );
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
